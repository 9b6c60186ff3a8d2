import { Effect, Result, Schema, type Scope } from "effect"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { Event } from "./Event.ts"

/** Records all events in order. */
export interface Log {
  /** The events that the log contained when it was opened. */
  readonly events: ReadonlyArray<Event>
  /** Appends all events, or throws and appends none. The events are on disk when it returns. */
  readonly append: (events: ReadonlyArray<Event>) => void
  /** Permanently removes events that are no longer needed. The remaining events must lead to the same state. */
  readonly compact: (isNeeded: (event: Event) => boolean) => void
}

/** The directory cannot be used, or contains another sandbox. */
export class LogUnusable extends Schema.TaggedError<LogUnusable>()("LogUnusable", {
  directory: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `The sandbox in ${this.directory} cannot be used. ${this.reason}.`
  }
}

/** A log without storage. */
export const memory: Log = { events: [], append: () => {}, compact: () => {} }

/** One line contains all events of one command, so that a truncated line drops all of them. */
const Line = Schema.fromJsonString(Schema.toCodecJson(Schema.Array(Event)))
const encode = Schema.encodeSync(Line)
const decode = Schema.decodeUnknownResult(Line)

/**
 * Identifies a directory's sandbox. Everything in the sandbox is derived from its seed, so another sandbox must
 * not continue it.
 */
const Header = Schema.fromJsonString(
  Schema.Struct({ sandbox: Schema.Literal(2), network: Schema.String, seed: Schema.String })
)

const nameOf = (directory: string) => NodePath.join(directory, "sandbox.ndjson")

/** Returns the complete lines. A line truncated by a crash is ignored, because its command never returned. */
const completeLines = (path: string): ReadonlyArray<string> => {
  if (!NodeFs.existsSync(path)) return []
  const bytes = NodeFs.readFileSync(path)
  const length = bytes.lastIndexOf(0x0a) + 1
  if (length < bytes.length) NodeFs.truncateSync(path, length)
  return bytes.subarray(0, length).toString("utf8").split("\n").slice(0, -1)
}

const opened = (directory: string, owner: { readonly network: string; readonly seed: string }) =>
  Effect.acquireRelease(
    Effect.try({
      try: () => {
        NodeFs.mkdirSync(directory, { recursive: true })
        const path = nameOf(directory)
        const lines = completeLines(path)
        const open = { file: NodeFs.openSync(path, "a") }
        const header = Schema.encodeSync(Header)({ sandbox: 2, ...owner })
        if (lines.length === 0) NodeFs.writeSync(open.file, `${header}\n`)
        return { open, lines: lines.slice(1), belongs: lines.length === 0 || lines[0] === header }
      },
      catch: (cause) => new LogUnusable({ directory, reason: `It cannot be opened: ${String(cause)}` })
    }),
    ({ open }) => Effect.sync(() => NodeFs.closeSync(open.file))
  )

/** Returns a log's lines without the events that are no longer needed. The first line identifies the sandbox. */
const shortened = (
  lines: ReadonlyArray<string>,
  isNeeded: (event: Event) => boolean
): ReadonlyArray<string> =>
  lines.flatMap((line, at) => {
    const events = at === 0 ? [] : Result.getOrThrow(decode(line))
    const needed = events.filter(isNeeded)
    if (needed.length === events.length) return [line]
    return needed.length === 0 ? [] : [encode(needed)]
  })

/** Replaces a file's lines atomically. */
const replace = (path: string, lines: ReadonlyArray<string>): void => {
  const beside = `${path}.new`
  const file = NodeFs.openSync(beside, "w")
  NodeFs.writeFileSync(file, `${lines.join("\n")}\n`)
  NodeFs.fsyncSync(file)
  NodeFs.closeSync(file)
  NodeFs.renameSync(beside, path)
}

/**
 * An append-only file in `directory`. After `append` returns, its events survive the death of the process,
 * like a real node's state. Only one process may use it.
 */
export const file = (
  directory: string,
  owner: { readonly network: string; readonly seed: string }
): Effect.Effect<Log, LogUnusable, Scope.Scope> =>
  Effect.gen(function* () {
    const { open, lines, belongs } = yield* opened(directory, owner)
    if (!belongs)
      return yield* new LogUnusable({
        directory,
        reason: "It belongs to a sandbox with another seed, network or version"
      })
    const events = Result.all(lines.map((line) => decode(line)))
    if (Result.isFailure(events))
      return yield* new LogUnusable({
        directory,
        reason: `It contains an invalid line: ${String(events.failure)}`
      })
    let size = NodeFs.fstatSync(open.file).size
    // Two processes with one log would have different states and spend the same coins.
    const alone = () => {
      if (NodeFs.fstatSync(open.file).size !== size)
        throw new Error(`Another process writes to the sandbox in ${directory}`)
    }
    return {
      events: events.success.flat(),
      append: (happened) => {
        if (happened.length === 0) return
        alone()
        const bytes = new TextEncoder().encode(`${encode(happened)}\n`)
        const written = NodeFs.writeSync(open.file, bytes)
        if (written < bytes.length) {
          NodeFs.ftruncateSync(open.file, size)
          throw new Error(`No room for the sandbox in ${directory}`)
        }
        size += written
      },
      compact: (isNeeded) => {
        alone()
        const path = nameOf(directory)
        replace(path, shortened(completeLines(path), isNeeded))
        NodeFs.closeSync(open.file)
        open.file = NodeFs.openSync(path, "a")
        size = NodeFs.fstatSync(open.file).size
      }
    }
  })
