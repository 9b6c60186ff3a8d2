import { Effect, Schema, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

/** Another process keeps its data in this directory: two at once would destroy it. */
export class DirectoryLocked extends Schema.TaggedError<DirectoryLocked>()("DirectoryLocked", {
  directory: Schema.String,
  pid: Schema.Int
}) {
  override get message(): string {
    return (
      `The directory ${this.directory} is in use by process ${this.pid}${this.pid === process.pid ? " (this one)" : ""}. ` +
      "Stop that process first, or give this one another directory."
    )
  }
}

/** The directory cannot be made or written to. */
export class DirectoryUnusable extends Schema.TaggedError<DirectoryUnusable>()("DirectoryUnusable", {
  directory: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    return `The directory ${this.directory} cannot be used: ${this.cause instanceof Error ? this.cause.message : String(this.cause)}`
  }
}

// A pid is reused after a while, the pair of pid and start time is not: null where the system does not report it.
const Holder = Schema.Struct({ pid: Schema.Int, started: Schema.NullOr(Schema.String) })
interface Holder extends Schema.Schema.Type<typeof Holder> {}

const holderOf = Schema.decodeUnknownOption(Schema.fromJsonString(Holder))

/** When a process began, in ticks since the machine did. Only Linux reports it, in the 22nd field; the 2nd may hold spaces and brackets. */
const startOf = (pid: number): string | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null
  } catch (cause) {
    return missing(cause, null)
  }
}

const codeOf = (cause: unknown): unknown => (cause instanceof Error && "code" in cause ? cause.code : undefined)

/** `otherwise`, when the failure is that a file is not there. */
const missing = <A>(cause: unknown, otherwise: A): A => {
  const code = codeOf(cause)
  if (code === "ENOENT" || code === "ESRCH") return otherwise
  throw cause
}

/**
 * Makes a directory and those above it, for their owner alone. Node's own `recursive` takes every ENOENT for a parent that is missing, and tries for ever
 * where nothing can be made, as in /proc.
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
    if (codeOf(cause) !== "EPERM") throw cause // EPERM: it is there, and another user's
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

/** Puts the lock there, whole, unless there is one: a link is made at once or not at all, so a half lock is never read. */
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

/** Takes away the lock of a process that is gone, if it is still that one: another process may have been faster. */
const clear = (file: string, stale: string): void => {
  const aside = `${file}.${randomUUID()}`
  try {
    renameSync(file, aside)
  } catch (cause) {
    return missing(cause, undefined)
  }
  if (readFileSync(aside, "utf8") !== stale) linkSync(aside, file)
  rmSync(aside)
}

/** The pid of the holder, or null once the lock is ours. */
const take = (file: string, text: string): number | null => {
  for (;;) {
    if (place(file, text)) return null
    const found = read(file)
    if (found === undefined) continue // given back just now
    const holder = holderOf(found)
    if (holder._tag === "Some" && isAlive(holder.value)) return holder.value.pid
    clear(file, found)
  }
}

/**
 * Holds the directory for this process until the scope closes, making it if need be, for its owner alone. The lock of a process that died is taken over.
 * It knows the processes of one machine: it is no protection between machines or containers that share a disk.
 */
export const hold = (directory: string): Effect.Effect<void, DirectoryLocked | DirectoryUnusable, Scope.Scope> =>
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
