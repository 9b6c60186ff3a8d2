import { Effect, Schema, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

/** Another process uses this directory. Two processes at the same time would destroy its data. */
export class DirectoryLocked extends Schema.TaggedError<DirectoryLocked>()("DirectoryLocked", {
  directory: Schema.String,
  pid: Schema.Int
}) {
  override get message(): string {
    return (
      `The directory ${this.directory} is in use by process ${this.pid}${this.pid === process.pid ? " (this one)" : ""}. ` +
      "Stop that process first, or use another directory."
    )
  }
}

/** The directory cannot be created or written. */
export class DirectoryUnusable extends Schema.TaggedError<DirectoryUnusable>()("DirectoryUnusable", {
  directory: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    return `The directory ${this.directory} cannot be used: ${this.cause instanceof Error ? this.cause.message : String(this.cause)}`
  }
}

// A pid is reused after a while, but the pair of pid and start time is not. The start time is null if the
// system does not report it.
const Holder = Schema.Struct({ pid: Schema.Int, started: Schema.NullOr(Schema.String) })
interface Holder extends Schema.Schema.Type<typeof Holder> {}

const holderOf = Schema.decodeUnknownOption(Schema.fromJsonString(Holder))

/**
 * Returns when a process started, in ticks since boot. Only Linux reports it, in the 22nd field. The 2nd
 * field may contain spaces and parentheses.
 */
const startOf = (pid: number): string | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null
  } catch (cause) {
    return missing(cause, null)
  }
}

const codeOf = (cause: unknown): unknown =>
  cause instanceof Error && "code" in cause ? cause.code : undefined

/** Returns `otherwise` if the failure is a missing file. */
const missing = <A>(cause: unknown, otherwise: A): A => {
  const code = codeOf(cause)
  if (code === "ENOENT" || code === "ESRCH") return otherwise
  throw cause
}

/**
 * Creates a directory and its parents, accessible only to their owner. Node's `recursive` option treats every
 * ENOENT as a missing parent, so it loops endlessly in a place where nothing can be created, such as /proc.
 */
const makeDirectory = (directory: string): void => {
  const parent = dirname(directory)
  if (parent !== directory && !existsSync(parent)) makeDirectory(parent)
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (cause) {
    if (codeOf(cause) !== "EEXIST" || !statSync(directory).isDirectory()) throw cause
  }
}

const isAlive = ({ pid, started }: Holder): boolean => {
  try {
    process.kill(pid, 0)
  } catch (cause) {
    if (codeOf(cause) === "ESRCH") return false
    if (codeOf(cause) !== "EPERM") throw cause // EPERM: the process exists but belongs to another user
  }
  const now = startOf(pid)
  return started === null || now === null || started === now
}

const read = (file: string): string | undefined => {
  try {
    return readFileSync(file, "utf8")
  } catch (cause) {
    return missing(cause, undefined)
  }
}

/** Creates the lock unless there is one. Creating a link is atomic, so a partial lock is never read. */
const place = (file: string, text: string): boolean => {
  const draft = `${file}.${randomUUID()}`
  writeFileSync(draft, text)
  try {
    linkSync(draft, file)
    return true
  } catch (cause) {
    if (codeOf(cause) === "EEXIST") return false
    throw cause
  } finally {
    rmSync(draft)
  }
}

/**
 * Returns the pid of the holder, or null once the lock is ours. Only the holder of a second lock may remove a dead
 * process's lock, so that none removes the lock of a process that took it over first.
 */
const take = (file: string, text: string): number | null => {
  for (;;) {
    if (place(file, text)) return null
    const found = read(file)
    if (found === undefined) continue // just released
    const holder = holderOf(found)
    if (holder._tag === "Some" && isAlive(holder.value)) return holder.value.pid
    const takeover = `${file}.takeover`
    const other = take(takeover, text)
    if (other !== null) return other
    try {
      if (read(file) === found) rmSync(file)
    } finally {
      rmSync(takeover)
    }
  }
}

/**
 * Creates the directory if needed, accessible only to its owner, and locks it for this process until the scope
 * closes. Takes over the lock of a dead process. The lock only recognizes processes on this machine, so it
 * doesn't protect a disk shared between machines or containers.
 */
export const hold = (
  directory: string
): Effect.Effect<void, DirectoryLocked | DirectoryUnusable, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({
      try: () => {
        makeDirectory(resolve(directory))
        const file = join(directory, "lock")
        const text = JSON.stringify({ pid: process.pid, started: startOf(process.pid) } satisfies Holder)
        return { file, holder: take(file, text) }
      },
      catch: (cause) => new DirectoryUnusable({ directory, cause })
    }).pipe(
      Effect.flatMap(({ file, holder }) =>
        holder === null ? Effect.succeed(file) : Effect.fail(new DirectoryLocked({ directory, pid: holder }))
      )
    ),
    (file) => Effect.sync(() => rmSync(file, { force: true }))
  )
