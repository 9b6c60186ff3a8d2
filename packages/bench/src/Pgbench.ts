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

/** Latencies are absent where only the rate was measured. */
export interface Rate {
  readonly perSecond: number
  readonly p50Millis?: number
  readonly p99Millis?: number
}

export interface Outcome extends Required<Rate> {}

/** How fast something of ours was, and what each operation cost: time of its process, log of the database, statements. */
export interface Measured extends Rate {
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

/** Its connections are as warm as ours when it counts: what a session plans and reads first is not counted on either side. */
export const warmupMillis = 300

/**
 * Rate and latencies of what pgbench logged after its warm-up, which lasted so long as it says. The third word of a line is a latency in µs, which at a rate counts from when it
 * was due, and the fifth and sixth are when it ended, in seconds and µs.
 */
export const read = (log: string, operations: number, warmup = warmupMillis): Outcome | undefined => {
  const ended = log.split("\n").flatMap((line) => {
    const [, , micros, , seconds, rest] = line.split(" ")
    return rest === undefined ? [] : { millis: Number(micros) / 1000, at: Number(seconds) * 1000 + Number(rest) / 1000 }
  })
  const began = ended.reduce((first, { at, millis }) => Math.min(first, at - millis), Infinity)
  const counted = ended.filter(({ at }) => at >= began + warmup)
  const last = counted.reduce((latest, { at }) => Math.max(latest, at), 0)
  if (last <= began + warmup) return undefined
  const sorted = Float64Array.from(counted, ({ millis }) => millis).toSorted()
  return {
    perSecond: (counted.length * operations * 1000) / (last - began - warmup),
    p50Millis: percentile(sorted, 0.5),
    p99Millis: percentile(sorted, 0.99)
  }
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
    const args = [
      "-n",
      "-M",
      "prepared",
      "-c",
      String(clients),
      "-j",
      String(Math.min(threads, clients)),
      "-T",
      String(Math.ceil(seconds + warmupMillis / 1000))
    ]
    const logged = ["-l", "--log-prefix", path.join(own, "log"), "-f", script]
    const child = execFile(program, [...args, ...rate, ...logged, url], (error, _, said) => {
      const log = globSync(path.join(own, "log.*")).map((file) => readFileSync(file, "utf8"))
      const outcome = error === null ? read(log.join(""), operations) : undefined
      rmSync(own, { recursive: true, force: true })
      resume(
        outcome === undefined
          ? Effect.fail(new BenchFailed({ message: `${name}: ${said.trim() || String(error)}` }))
          : Effect.succeed(outcome)
      )
    })
    return Effect.sync(() => child.kill())
  })
