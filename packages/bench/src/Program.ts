import { Deferred, Effect, Schema, type Scope } from "effect"
import { type ChildProcess, fork as forkProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:net"
import path from "node:path"

/** Something could not be measured, and why. */
export class BenchFailed extends Schema.TaggedError<BenchFailed>()("BenchFailed", { message: Schema.String }) {}

/** A program that runs for as long as the scope is open. */
export interface Program {
  readonly pid: number
  readonly child: ChildProcess
  /** Ends with the program, well only if that exits with 0. */
  readonly exited: Effect.Effect<void, BenchFailed>
  /** Fails as soon as the program has ended: it should not have. */
  readonly died: Effect.Effect<never, BenchFailed>
}

export interface Options {
  readonly env?: NodeJS.ProcessEnv
  readonly uid?: number | undefined
  readonly gid?: number | undefined
  /** Where it runs: here, unless given. */
  readonly cwd?: string | undefined
  /** What asks it to end. SIGTERM unless given. */
  readonly stopSignal?: NodeJS.Signals
}

const maxStopMillis = 30_000
const keptCharacters = 4000

const hosted = Effect.fnUntraced(function* (name: string, begin: () => ChildProcess, stopSignal: NodeJS.Signals = "SIGTERM") {
  const ended = yield* Deferred.make<{ readonly how: string; readonly well: boolean }>()
  const child = yield* Effect.acquireRelease(Effect.sync(begin), (child) =>
    Effect.promise(async () => {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
      const exited = once(child, "exit")
      child.kill(stopSignal)
      const patience = setTimeout(() => child.kill("SIGKILL"), maxStopMillis)
      await exited
      clearTimeout(patience)
    })
  )
  let said = ""
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-keptCharacters)))
  child.once("error", (error) => Deferred.doneUnsafe(ended, Effect.succeed({ how: error.message, well: false })))
  child.once("close", (code, signal) =>
    Deferred.doneUnsafe(ended, Effect.succeed({ how: `it ended with ${signal ?? code}`, well: code === 0 }))
  )
  const failed = (how: string) => Effect.fail(new BenchFailed({ message: `${name}: ${how}\n${said}`.trimEnd() }))
  const exited = Effect.flatMap(Deferred.await(ended), ({ how, well }) => (well ? Effect.void : failed(how)))
  const died = Effect.flatMap(Deferred.await(ended), ({ how }) => failed(how))
  if (child.pid === undefined) return yield* died
  return { pid: child.pid, child, exited, died } satisfies Program
})

/** Starts a program. What it prints is kept to explain its end, and not shown. */
export const start = (
  name: string,
  command: string,
  args: ReadonlyArray<string>,
  options: Options = {}
): Effect.Effect<Program, BenchFailed, Scope.Scope> => {
  const { stopSignal, uid, gid, cwd, env } = options
  const identity = { ...(uid === undefined ? {} : { uid }), ...(gid === undefined ? {} : { gid }) }
  return hosted(
    name,
    () => spawn(command, args, { stdio: ["ignore", "ignore", "pipe"], env: env ?? process.env, cwd, ...identity }),
    stopSignal
  )
}

/** Runs a program to its end, which must be a good one. */
export const finish = (
  name: string,
  command: string,
  args: ReadonlyArray<string>,
  options: Options = {}
): Effect.Effect<void, BenchFailed> => Effect.scoped(Effect.flatMap(start(name, command, args, options), ({ exited }) => exited))

export interface ForkOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly nodeArgs?: ReadonlyArray<string>
  /** Where the program is, instead of here: the sources of this package in another checkout. */
  readonly sources?: string
}

/** How `npm start` runs the service. */
export const heap: ReadonlyArray<string> = ["--max-semi-space-size=16", "--heap-growing-percent=50", "--no-allocation-site-pretenuring"]

/** What the image tells the C library and Node, of a service that keeps its data in this directory. */
export const surroundings = (directory: string) => ({ MALLOC_ARENA_MAX: "1", NODE_COMPILE_CACHE: path.join(directory, "compiled") })

/** Starts a program of this package, which talks in messages. */
export const fork = (
  name: string,
  { env = process.env, nodeArgs = [], sources = import.meta.dirname }: ForkOptions = {}
): Effect.Effect<Program, BenchFailed, Scope.Scope> =>
  hosted(name, () =>
    forkProcess(path.join(sources, `${name}${path.extname(import.meta.filename)}`), [], {
      stdio: ["ignore", "inherit", "pipe", "ipc"],
      execArgv: [...process.execArgv, ...heap, ...nodeArgs],
      env
    })
  )

/** The next message of a forked program. */
export const message = <A>(program: Program, schema: Schema.Decoder<A>): Effect.Effect<A, BenchFailed> =>
  Effect.raceFirst(
    Effect.callback<unknown>((resume) => {
      const take = (message: unknown) => resume(Effect.succeed(message))
      program.child.once("message", take)
      return Effect.sync(() => program.child.off("message", take))
    }).pipe(Effect.flatMap(Schema.decodeUnknownEffect(schema)), Effect.orDie),
    program.died
  )

/** What one of this package's servers says first. */
export const Listening = Schema.Struct({ port: Schema.Int })

/** Starts one of this package's servers. */
export const server = (
  name: string,
  options?: ForkOptions
): Effect.Effect<{ readonly port: number; readonly pid: number }, BenchFailed, Scope.Scope> =>
  Effect.flatMap(fork(name, options), (program) => Effect.map(message(program, Listening), ({ port }) => ({ port, pid: program.pid })))

/** A port of this machine that is free now. */
export const freePort: Effect.Effect<number> = Effect.callback((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() =>
      resume(typeof address === "object" && address !== null ? Effect.succeed(address.port) : Effect.die(new Error("no port")))
    )
  })
})

/** What Linux says about a process. Undefined elsewhere. */
const proc = (pid: number, file: "status" | "stat"): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8")
  } catch {
    return undefined
  }
}

const mebibytes = (pid: number, line: RegExp): number | undefined => {
  const kibibytes = line.exec(proc(pid, "status") ?? "")?.[1]
  return kibibytes === undefined ? undefined : Number(kibibytes) / 1024
}

/** Memory that is really occupied (VmRSS), in MiB. Undefined where the system does not report it. */
export const residentMebibytes = (pid: number) => mebibytes(pid, /^VmRSS:\s+(\d+) kB$/m)

/** The most that ever was (VmHWM). */
export const peakMebibytes = (pid: number) => mebibytes(pid, /^VmHWM:\s+(\d+) kB$/m)

/** The processor time of a process, in µs. Undefined where the system does not report it. */
export const cpuMicros = (pid: number): number | undefined => {
  // The program's name, in parentheses, may have spaces; utime and stime are 12 and 13 fields after it, in hundredths of a second.
  const fields = proc(pid, "stat")?.split(") ").at(-1)?.split(" ")
  return fields === undefined ? undefined : (Number(fields[11]) + Number(fields[12])) * 10_000
}
