import { Console, Effect, Option, Stream } from "effect"
import { createWriteStream } from "node:fs"
import { rename, rm } from "node:fs/promises"
import { finished } from "node:stream/promises"
import type { Writable } from "node:stream"
import { CommandFailed } from "../base/CommandFailed.ts"
import * as Operator from "./Operator.ts"
import * as Output from "./Output.ts"

const failed = (doing: string) => (cause: unknown) => new CommandFailed({ message: `${doing}\n  ${Output.reasonsOf(cause).join("\n  ")}` })

/** Waits until it was taken: what is not read yet stays where it is. */
const write = (to: Writable, bytes: Uint8Array) =>
  Effect.callback<void, CommandFailed>((resume) => {
    to.write(bytes, (error) =>
      resume(error === null || error === undefined ? Effect.void : Effect.fail(failed("What was read could not be written")(error)))
    )
  })

// Longer than the last line of an export can be.
const tailBytes = 4096

/** Writes everything, and answers the end of it. */
const copied = (from: Stream.Stream<Uint8Array, unknown>, to: Writable) => {
  let tail = Buffer.alloc(0)
  return from.pipe(
    Stream.mapError(failed("The export broke off: what was written is not all of it")),
    Stream.runForEach((bytes) => {
      tail = Buffer.concat([tail, bytes]).subarray(-tailBytes)
      return write(to, bytes)
    }),
    Effect.map(() => tail.toString())
  )
}

/** What is beside the file until it is whole. */
const part = (file: string): string => `${file}.part`

const toFile = Effect.fnUntraced(function* (from: Stream.Stream<Uint8Array, unknown>, file: string) {
  const to = createWriteStream(part(file), { mode: 0o600 })
  const closed = finished(to)
  // What goes wrong while it is written is told by the write.
  closed.catch(() => undefined)
  const tail = yield* copied(from, to)
  to.end()
  yield* Effect.tryPromise({ try: () => closed, catch: failed(`${file} could not be written`) })
  return tail
})

const isWhole = (tail: string): boolean => {
  const last = tail.trimEnd().split("\n").at(-1) ?? ""
  return last.startsWith("{") ? /"type":"closing"/.test(last) : last.split(",")[2] === "closing"
}

const cutShort = new CommandFailed({ message: "The export has no last line: it was cut short. Ask again" })

/** Prints it, or writes it to a file, which is there once it is `whole`, and not before. */
const saved = Effect.fnUntraced(function* (
  body: Stream.Stream<Uint8Array, unknown>,
  output: Option.Option<string>,
  whole: (tail: string) => Effect.Effect<void, CommandFailed>
) {
  if (Option.isNone(output)) return yield* Effect.flatMap(copied(body, process.stdout), whole)
  const file = output.value
  yield* Effect.flatMap(toFile(body, file), whole).pipe(
    Effect.andThen(Effect.tryPromise({ try: () => rename(part(file), file), catch: failed(`${file} could not be written`) })),
    Effect.onError(() => Effect.ignore(Effect.tryPromise(() => rm(part(file), { force: true }))))
  )
  yield* Console.error(`Written: ${file}`)
})

/** Writes what was booked, of a company or of all. A file is there once it is whole, and not before. */
export const exported = Effect.fnUntraced(function* (ask: {
  readonly company: Option.Option<string>
  readonly format: "csv" | "jsonl"
  readonly from: Option.Option<string>
  readonly until: Option.Option<string>
  readonly metadataKeys: Option.Option<string>
  readonly output: Option.Option<string>
}) {
  const given = Object.entries({ from: ask.from, until: ask.until, metadata_keys: ask.metadataKeys }).flatMap(([name, value]) =>
    Option.toArray(value).map((value): [string, string] => [name, value])
  )
  const root = Option.match(ask.company, { onNone: () => "/operator", onSome: (id) => `/operator/companies/${encodeURIComponent(id)}` })
  const body = Stream.unwrap(Operator.stream(`${root}/transactions/export?${new URLSearchParams([["format", ask.format], ...given])}`))
  const whole = (tail: string) => (Option.isNone(ask.company) || isWhole(tail) ? Effect.void : Effect.fail(cutShort))
  yield* saved(body, ask.output, whole)
})

/** Prints what a route returns, as it comes in. */
export const printed = (route: string) => Effect.asVoid(copied(Stream.unwrap(Operator.stream(route)), process.stdout))

/** Prints a list, or writes it to a file, which is there once it is whole. One that is cut short breaks off in HTTP itself. */
export const list = Effect.fnUntraced(function* (
  { query, output }: { readonly query: Parameters<typeof Operator.queryOf>[0]; readonly output: Option.Option<string> },
  route: string
) {
  yield* saved(Stream.unwrap(Operator.stream(`${route}?${Operator.queryOf(query)}`)), output, () => Effect.void)
})
