import { Effect } from "effect"
import { execFile } from "node:child_process"
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import { percentile } from "./Load.ts"
import { BenchFailed } from "./Program.ts"

/** PostgreSQL's own benchmark program, on one database. */
export interface Pgbench {
  readonly program: string
  readonly url: string
  /** Where its scripts and logs are kept. */
  readonly directory: string
}

/** What is run, again and again, by each client. */
export interface Script {
  readonly name: string
  readonly text: string
  readonly clients: number
  /** How many operations one run of it is. 1 unless given. */
  readonly operations?: number
}

export interface Outcome {
  readonly perSecond: number
  readonly p50Millis: number
  readonly p99Millis: number
}

/** How fast something of ours was, and what each operation cost: time of its process, log of the database, statements. */
export interface Measured extends Outcome {
  readonly cpuMicros: number | undefined
  readonly walBytes: number
  readonly roundTrips: number | undefined
}

const threads = 2

/** Where pgbench is: beside the server's programs, or where programs are. */
export const find = (folder: string | undefined): string | undefined =>
  [
    ...(folder === undefined ? [] : [folder]),
    ...globSync("/usr/lib/postgresql/*/bin"),
    ...(process.env["PATH"] ?? "").split(path.delimiter)
  ]
    .map((folder) => path.join(folder, "pgbench"))
    .find((file) => existsSync(file))

/** Rate and latencies of what pgbench printed and logged. In a log the third word of a line is a latency in µs; at a rate it counts from when it was due. */
export const read = (printed: string, log: string, operations: number): Outcome | undefined => {
  const perSecond = /^tps = ([\d.]+)/m.exec(printed)?.[1]
  if (perSecond === undefined) return undefined
  const latencies = log.split("\n").flatMap((line) => {
    const micros = line.split(" ")[2]
    return micros === undefined ? [] : Number(micros) / 1000
  })
  const sorted = Float64Array.from(latencies).toSorted()
  return { perSecond: Number(perSecond) * operations, p50Millis: percentile(sorted, 0.5), p99Millis: percentile(sorted, 0.99) }
}

/** Runs a script for a while: as fast as it goes, or at random (Poisson) so many times a second. */
export const run = (
  { program, url, directory }: Pgbench,
  { name, text, clients, operations = 1 }: Script,
  seconds: number,
  perSecond?: number
): Effect.Effect<Outcome, BenchFailed> =>
  Effect.callback((resume) => {
    const own = mkdtempSync(path.join(directory, "pgbench-"))
    const script = path.join(own, "script.sql")
    writeFileSync(script, text)
    const rate = perSecond === undefined ? [] : ["-R", String(Math.max(1, perSecond / operations))]
    const args = ["-n", "-M", "prepared", "-c", String(clients), "-j", String(Math.min(threads, clients)), "-T", String(seconds)]
    const logged = ["-l", "--log-prefix", path.join(own, "log"), "-f", script]
    const child = execFile(program, [...args, ...rate, ...logged, url], (error, printed, said) => {
      const log = globSync(path.join(own, "log.*")).map((file) => readFileSync(file, "utf8"))
      const outcome = error === null ? read(printed, log.join(""), operations) : undefined
      rmSync(own, { recursive: true, force: true })
      resume(
        outcome === undefined
          ? Effect.fail(new BenchFailed({ message: `${name}: ${said.trim() || String(error)}` }))
          : Effect.succeed(outcome)
      )
    })
    return Effect.sync(() => child.kill())
  })
