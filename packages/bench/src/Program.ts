import { Deferred, Effect, Schema, type Scope } from "effect"
import { type ChildProcess, fork as forkProcess } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import type { Server as Listener } from "node:net"
import path from "node:path"

/** A measurement failed. `message` gives the reason. */
export class BenchFailed extends Schema.TaggedError<BenchFailed>()("BenchFailed", {
  message: Schema.String
}) {}

/** Turns any error with a message into a `BenchFailed`. */
export const failed = Effect.mapError(
  ({ message }: { readonly message: string }) => new BenchFailed({ message })
)

/** A process that runs while its scope is open. */
export interface Program {
  readonly pid: number
  readonly child: ChildProcess
  /** Fails when the process exits. */
  readonly died: Effect.Effect<never, BenchFailed>
}

/** A process that listens on a port on this machine. */
export interface Server {
  readonly port: number
  readonly pid: number
}

const maxStopMillis = 30_000
const keptCharacters = 4000

/** Starts a program. Its stderr is shown only if it fails. */
export const hosted = Effect.fnUntraced(function* (
  name: string,
  begin: () => ChildProcess
): Effect.fn.Return<Program, BenchFailed, Scope.Scope> {
  const ended = yield* Deferred.make<string>()
  const child = yield* Effect.acquireRelease(Effect.sync(begin), (child) =>
    Effect.promise(async () => {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
      const exited = once(child, "exit")
      child.kill("SIGTERM")
      const patience = setTimeout(() => child.kill("SIGKILL"), maxStopMillis)
      await exited
      clearTimeout(patience)
    })
  )
  let said = ""
  child.stderr
    ?.setEncoding("utf8")
    .on("data", (text: string) => (said = (said + text).slice(-keptCharacters)))
  child.once("error", (error) => Deferred.doneUnsafe(ended, Effect.succeed(error.message)))
  child.once("close", (code, signal) =>
    Deferred.doneUnsafe(ended, Effect.succeed(`it ended with ${signal ?? code}`))
  )
  const died = Effect.flatMap(Deferred.await(ended), (how) =>
    Effect.fail(new BenchFailed({ message: `${name}: ${how}\n${said}`.trimEnd() }))
  )
  if (child.pid === undefined) return yield* died
  return { pid: child.pid, child, died }
})

export interface ForkOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly nodeArgs?: ReadonlyArray<string>
  /** The folder that contains the program. Defaults to this folder. */
  readonly sources?: string | undefined
}

/** The heap options on the command line of `npm start`. */
export const heap: ReadonlyArray<string> = ["--max-semi-space-size=32"]

/** The environment that the container image sets for the C library and Node. */
export const surroundings = (directory: string) => ({
  MALLOC_ARENA_MAX: "1",
  NODE_COMPILE_CACHE: path.join(directory, "compiled")
})

/** Starts one of this package's programs as a child process that exchanges messages with this one. */
export const fork = (
  name: string,
  { env = process.env, nodeArgs = [], sources = import.meta.dirname }: ForkOptions = {}
): Effect.Effect<Program, BenchFailed, Scope.Scope> =>
  hosted(name, () =>
    forkProcess(path.join(sources, `${name}${path.extname(import.meta.filename)}`), [], {
      stdio: ["ignore", "inherit", "pipe", "ipc"],
      execArgv: [
        ...process.execArgv,
        ...heap,
        "--no-allocation-site-pretenuring",
        "--heap-growing-percent=50",
        ...nodeArgs
      ],
      env
    })
  )

/** Returns the next message from a forked program. */
export const message = <A>(program: Program, schema: Schema.Decoder<A>): Effect.Effect<A, BenchFailed> =>
  Effect.raceFirst(
    Effect.callback<unknown>((resume) => {
      const take = (message: unknown) => resume(Effect.succeed(message))
      program.child.once("message", take)
      return Effect.sync(() => program.child.off("message", take))
    }).pipe(Effect.flatMap(Schema.decodeUnknownEffect(schema)), Effect.orDie),
    program.died
  )

/** Sends a message to a forked program and waits for its reply. */
export const ask = <A>(
  program: Program,
  request: object,
  schema: Schema.Decoder<A>
): Effect.Effect<A, BenchFailed> =>
  Effect.suspend(() => {
    program.child.send(request)
    return message(program, schema)
  })

const Listening = Schema.Struct({ port: Schema.Int })

/** Starts one of this package's servers. Its first message contains its port. */
export const server = Effect.fnUntraced(function* (
  name: string,
  options?: ForkOptions
): Effect.fn.Return<Server & Program, BenchFailed, Scope.Scope> {
  const program = yield* fork(name, options)
  return { ...program, ...(yield* message(program, Listening)) }
})

/** Returns the port of a server that listens. */
export const portOf = (server: Listener): number => {
  const address = server.address()
  if (typeof address !== "object" || address === null) throw new Error("no port")
  return address.port
}

/** Reads a file about a process in Linux's /proc. Undefined on other systems. */
const proc = (pid: number, file: "status" | "stat"): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8")
  } catch {
    return undefined
  }
}

/**
 * Returns the resident memory of a process in MiB: the current value (`VmRSS`) or the peak (`VmHWM`). Undefined
 * if the system does not report it.
 */
export const mebibytes = (pid: number, which: "VmRSS" | "VmHWM"): number | undefined => {
  const kibibytes = new RegExp(`^${which}:\\s+(\\d+) kB$`, "m").exec(proc(pid, "status") ?? "")?.[1]
  return kibibytes === undefined ? undefined : Number(kibibytes) / 1024
}

/** Returns the processor time of a process in µs. Undefined if the system does not report it. */
export const cpuMicros = (pid: number): number | undefined => {
  // Split after the program name, which is in parentheses and may contain spaces. The values utime and stime
  // are the 12th and 13th fields after it, in hundredths of a second.
  const fields = proc(pid, "stat")?.split(") ").at(-1)?.split(" ")
  return fields === undefined ? undefined : (Number(fields[11]) + Number(fields[12])) * 10_000
}
