import { Console, Effect, Option, Stream } from "effect"
import { createWriteStream, lstatSync } from "node:fs"
import { rename, rm } from "node:fs/promises"
import { finished } from "node:stream/promises"
import type { Writable } from "node:stream"
import type { Query } from "@satrail/http/commands/Client"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"
import * as Operator from "./Operator.ts"
import * as Output from "./Output.ts"

const failed = (doing: string) => (cause: unknown) =>
  new CommandFailed({ message: `${doing}\n  ${Output.reasonsOf(cause).join("\n  ")}` })

/** Waits until the bytes are written, so that no more data is read than can be written. */
const write = (to: Writable, bytes: Uint8Array) =>
  Effect.callback<void, CommandFailed>((resume) => {
    to.write(bytes, (error) =>
      resume(
        error === null || error === undefined
          ? Effect.void
          : Effect.fail(failed("The output could not be written")(error))
      )
    )
  })

// Longer than any export's last line.
const tailBytes = 4096

/** Copies a stream to the output and returns its last bytes. */
export const copied = (from: Stream.Stream<Uint8Array, unknown>, to: Writable) => {
  let tail = Buffer.alloc(0)
  // `write` reports the error. Without a listener, it would also end the process with a stack trace.
  to.on("error", () => undefined)
  return from.pipe(
    Stream.mapError(failed("The export was interrupted, so the output is incomplete.")),
    Stream.runForEach((bytes) => {
      tail = Buffer.concat([tail, bytes]).subarray(-tailBytes)
      return write(to, bytes)
    }),
    Effect.map(() => tail.toString())
  )
}

/** Returns the name under which a file is written until it is complete. */
const part = (file: string): string => `${file}.part`

const toFile = Effect.fnUntraced(function* (from: Stream.Stream<Uint8Array, unknown>, file: string) {
  const to = createWriteStream(part(file), { mode: 0o600 })
  const closed = finished(to)
  // Errors of the file are reported by `write`.
  closed.catch(() => undefined)
  const tail = yield* copied(from, to)
  to.end()
  yield* Effect.tryPromise({ try: () => closed, catch: failed(`${file} could not be written`) })
  return tail
})

/** Refuses devices and links such as /dev/stdout: renaming the complete file to their name would replace them. */
const refuseSpecial = Effect.fnUntraced(function* (file: string) {
  const found = yield* Effect.try({
    try: () => lstatSync(file, { throwIfNoEntry: false }),
    catch: failed(`${file} could not be written`)
  })
  if (found?.isFile() === false)
    return yield* new CommandFailed({
      message: `${file} is not a regular file. Without --output, the command prints to standard output.`
    })
})

const isWhole = (tail: string): boolean => {
  const last = tail.trimEnd().split("\n").at(-1) ?? ""
  return last.startsWith("{") ? /"type":"closing"/.test(last) : last.split(",")[2] === "closing"
}

const cutShort = new CommandFailed({
  message: "The export is incomplete: its last line is missing. Run the command again."
})

/** Prints a response body, or writes it to a file. The file appears only after `whole` has accepted the last bytes. */
const saved = Effect.fnUntraced(function* (
  body: Stream.Stream<Uint8Array, unknown>,
  output: Option.Option<string>,
  whole: (tail: string) => Effect.Effect<void, CommandFailed>
) {
  if (Option.isNone(output)) return yield* Effect.flatMap(copied(body, process.stdout), whole)
  const file = output.value
  yield* refuseSpecial(file)
  yield* Effect.flatMap(toFile(body, file), whole).pipe(
    Effect.andThen(
      Effect.tryPromise({
        try: () => rename(part(file), file),
        catch: failed(`${file} could not be written`)
      })
    ),
    Effect.onError(() => Effect.ignore(Effect.tryPromise(() => rm(part(file), { force: true }))))
  )
  yield* Console.error(`Written: ${file}`)
})

/** Exports the ledger transactions of a company or of all companies. The file appears only when it is complete. */
export const exported = Effect.fnUntraced(function* (ask: {
  readonly company: Option.Option<string>
  readonly format: "csv" | "jsonl"
  readonly from: Option.Option<string>
  readonly until: Option.Option<string>
  readonly metadataKeys: Option.Option<string>
  readonly output: Option.Option<string>
}) {
  const given = Object.entries({ from: ask.from, until: ask.until, metadata_keys: ask.metadataKeys }).flatMap(
    ([name, value]) => Option.toArray(value).map((value): [string, string] => [name, value])
  )
  const root = Option.match(ask.company, {
    onNone: () => "/operator",
    onSome: (id) => `/operator/companies/${encodeURIComponent(id)}`
  })
  const body = yield* Operator.stream(
    `${root}/transactions/export?${new URLSearchParams([["format", ask.format], ...given])}`
  )
  const whole = (tail: string) =>
    Option.isNone(ask.company) || isWhole(tail) ? Effect.void : Effect.fail(cutShort)
  yield* saved(body, ask.output, whole)
})

/** Prints a route's response as it arrives. */
export const printed = (route: string) =>
  Effect.asVoid(Effect.flatMap(Operator.stream(route), (body) => copied(body, process.stdout)))

/**
 * Prints a list, or writes it to a file, which appears only when it is complete. No last line is checked,
 * because HTTP itself detects a truncated response.
 */
export const list = Effect.fnUntraced(function* (
  { query, output }: { readonly query: Query; readonly output: Option.Option<string> },
  route: string
) {
  yield* saved(yield* Operator.stream(`${route}?${Operator.queryOf(query)}`), output, () => Effect.void)
})
