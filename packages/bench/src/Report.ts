import os from "node:os"
import * as Bars from "./Bars.ts"
import type { Series } from "./Chart.ts"
import * as Exponent from "./Exponent.ts"
import type { Measured, Rate } from "./Pgbench.ts"

/** What was measured: which operation, whose, and by how many callers at a time. */
export interface What {
  readonly operation: string
  readonly pattern: string
  readonly clients: number
}

/** One measured operation. Rates and latencies are medians over the rounds; `ratio` is the median of the rounds' own ratios, beside the least and the most of them. */
export interface Row extends What {
  readonly ours_per_s: number
  /** What it is compared with in the same round. */
  readonly limit: string
  readonly limit_per_s: number
  readonly ratio: number
  readonly ratio_least: number
  readonly ratio_most: number
  /** Null where only the rate was measured. */
  readonly p50_ms: number | null
  readonly p99_ms: number | null
  readonly rounds: number
}

/** What one operation cost: medians. Null where it could not be counted. */
export interface Cost extends What {
  /** Processor time of our process. */
  readonly cpu_us: number | null
  /** What the database wrote to its log, whole pages after a checkpoint included. */
  readonly wal_bytes: number
  /** Statements sent to the database. */
  readonly round_trips: number | null
}

/** Latencies at half of the own rate, requests coming at random; pgbench's at half of its own. Or latencies beside something else, and alone. `times` is the median of the rounds' own. */
export interface Half extends What {
  readonly per_s: number
  readonly p99_ms: number
  readonly limit_p99_ms: number
  readonly times: number
  readonly wanted: number
}

/** Latencies at a part of the own rate, requests coming at random. */
export interface Latency extends What {
  readonly part: number
  readonly per_s: number
  readonly p50_ms: number
  readonly p99_ms: number
}

/** How the cost of one operation grows with the rows there are. `exponent` is the median of the rounds' own. */
export interface Growth extends What {
  readonly sizes: ReadonlyArray<{ readonly rows: number; readonly per_s: number }>
  readonly exponent: number | null
  readonly wanted: number | null
  readonly rounds: number
}

/** Something that is better small: a start, or memory. `first` is the very first start, where nothing existed yet. */
export interface Size {
  readonly operation: string
  readonly pattern: string
  readonly unit: "ms" | "MiB" | "a minute"
  readonly median: number
  readonly worst: number
  readonly first: number | null
  readonly target: number | null
  readonly rounds: number
}

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memory_gib: number
  readonly system: string
  readonly node: string
  readonly postgres: string
}

export const machine = (postgres: string): Machine => ({
  cpu: cpuModel(),
  cores: os.availableParallelism(),
  memory_gib: Math.round(os.totalmem() / 2 ** 30),
  system: `${os.platform()} ${os.arch()} ${os.release()}`,
  node: process.version,
  postgres
})

const cpuModel = (): string => os.cpus()[0]?.model.trim() ?? "unknown"

/** The one in the middle; the lower of the two when there are two. */
export const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[(values.length - 1) >> 1] ?? NaN

const rounded = (value: number, digits: number) => Number(value.toFixed(digits))

/** The rounds of one operation as a row. `limits` are what the limit did in the same rounds, in order. */
export const row = (what: Pick<Row, keyof What | "limit">, ours: ReadonlyArray<Rate>, limits: ReadonlyArray<Rate>): Row => {
  const ratios = ours.map(({ perSecond }, i) => perSecond / (limits[i]?.perSecond ?? NaN))
  return {
    operation: what.operation,
    pattern: what.pattern,
    clients: what.clients,
    ours_per_s: Math.round(median(ours.map(({ perSecond }) => perSecond))),
    limit: what.limit,
    limit_per_s: Math.round(median(limits.map(({ perSecond }) => perSecond))),
    ratio: rounded(median(ratios), 3),
    ratio_least: rounded(Math.min(...ratios), 3),
    ratio_most: rounded(Math.max(...ratios), 3),
    p50_ms: known(
      ours.map(({ p50Millis }) => p50Millis),
      2
    ),
    p99_ms: known(
      ours.map(({ p99Millis }) => p99Millis),
      2
    ),
    rounds: ours.length
  }
}

const known = (values: ReadonlyArray<number | undefined>, digits: number): number | null => {
  const all = values.filter((value) => value !== undefined)
  return all.length < values.length ? null : rounded(median(all), digits)
}

export const cost = (what: What, ours: ReadonlyArray<Measured>): Cost => ({
  ...what,
  cpu_us: known(
    ours.map(({ cpuMicros }) => cpuMicros),
    1
  ),
  wal_bytes: Math.round(median(ours.map(({ walBytes }) => walBytes))),
  round_trips: known(
    ours.map(({ roundTrips }) => roundTrips),
    3
  )
})

export const half = (
  what: What,
  rounds: ReadonlyArray<{ readonly ours: Rate; readonly limit: Rate }>,
  wanted = Bars.maxTimesP99
): Half => ({
  ...what,
  per_s: Math.round(median(rounds.map(({ ours }) => ours.perSecond))),
  p99_ms: rounded(median(rounds.map(({ ours }) => ours.p99Millis ?? NaN)), 2),
  limit_p99_ms: rounded(median(rounds.map(({ limit }) => limit.p99Millis ?? NaN)), 2),
  times: rounded(median(rounds.map(({ ours, limit }) => (ours.p99Millis ?? NaN) / (limit.p99Millis ?? NaN))), 2),
  wanted
})

export const latency = (what: What, part: number, { perSecond, p50Millis = NaN, p99Millis = NaN }: Rate): Latency => ({
  ...what,
  part,
  per_s: Math.round(perSecond),
  p50_ms: rounded(p50Millis, 2),
  p99_ms: rounded(p99Millis, 2)
})

/** The latencies of each operation as two lines of a chart. */
export const series = (latencies: ReadonlyArray<Latency>): ReadonlyArray<Series> => {
  const names = new Set(latencies.map(({ operation, pattern }) => `${operation}, ${pattern}`))
  return [...names].flatMap((name) => {
    const own = latencies.filter(({ operation, pattern }) => `${operation}, ${pattern}` === name)
    return [
      { name: `${name}: p99`, points: own.map(({ per_s, p99_ms }) => ({ perSecond: per_s, millis: p99_ms })) },
      { name: `${name}: p50`, points: own.map(({ per_s, p50_ms }) => ({ perSecond: per_s, millis: p50_ms })) }
    ]
  })
}

/** `rounds` holds for each round the rates at all sizes, in their order. */
export const growth = (
  what: What,
  sizes: ReadonlyArray<number>,
  rounds: ReadonlyArray<ReadonlyArray<number>>,
  wanted: number | null = Bars.of(what)?.exponent ?? null
): Growth => ({
  ...what,
  sizes: sizes.map((rows, i) => ({ rows, per_s: Math.round(median(rounds.map((rates) => rates[i] ?? NaN))) })),
  exponent: known(
    rounds.map((rates) => Exponent.fit(rates.map((perSecond, i) => ({ rows: sizes[i] ?? NaN, perSecond })))),
    3
  ),
  wanted,
  rounds: rounds.length
})

export const size = (what: Pick<Size, "operation" | "pattern" | "unit" | "first" | "target">, values: ReadonlyArray<number>): Size => ({
  ...what,
  first: what.first === null ? null : Math.round(what.first),
  median: Math.round(median(values)),
  worst: Math.round(Math.max(...values)),
  rounds: values.length
})
