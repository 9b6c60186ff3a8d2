import os from "node:os"
import type { Outcome } from "./Load.ts"

/** One measured operation. Rates and latencies are medians over the rounds; `ratio` is the median of the rounds' own ratios. */
export interface Row {
  readonly operation: string
  readonly pattern: string
  readonly clients: number
  readonly ours_per_s: number
  /** What it is compared with in the same round, and null when with nothing. */
  readonly limit: string | null
  readonly limit_per_s: number | null
  readonly ratio: number | null
  readonly p50_ms: number
  readonly p99_ms: number
  /** Processor time of the server's own process for one request; null where the system does not tell. */
  readonly cpu_us: number | null
  readonly rounds: number
}

/** Something that is better small: a start, or memory. `first` is the very first start, where nothing existed yet. */
export interface Size {
  readonly operation: string
  readonly pattern: string
  readonly unit: "ms" | "MiB"
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

/** What came of a load, and what it cost the server. */
export interface Measured extends Outcome {
  readonly cpuMicros: number | undefined
}

/** The rounds of one operation as a row. `limits` are what the limit did in the same rounds, in order. */
export const row = (
  what: Pick<Row, "operation" | "pattern" | "clients" | "limit">,
  ours: ReadonlyArray<Measured>,
  limits: ReadonlyArray<Measured> | undefined
): Row => ({
  ...what,
  ours_per_s: Math.round(median(ours.map(({ perSecond }) => perSecond))),
  limit_per_s: limits === undefined ? null : Math.round(median(limits.map(({ perSecond }) => perSecond))),
  ratio: limits === undefined ? null : rounded(median(ours.map(({ perSecond }, i) => perSecond / (limits[i]?.perSecond ?? NaN))), 3),
  p50_ms: rounded(median(ours.map(({ p50Millis }) => p50Millis)), 2),
  p99_ms: rounded(median(ours.map(({ p99Millis }) => p99Millis)), 2),
  cpu_us: ours.some(({ cpuMicros }) => cpuMicros === undefined)
    ? null
    : rounded(median(ours.map(({ cpuMicros, sent }) => (cpuMicros ?? NaN) / sent)), 1),
  rounds: ours.length
})

export const size = (what: Pick<Size, "operation" | "pattern" | "unit" | "first" | "target">, values: ReadonlyArray<number>): Size => ({
  ...what,
  first: what.first === null ? null : Math.round(what.first),
  median: Math.round(median(values)),
  worst: Math.round(Math.max(...values)),
  rounds: values.length
})

/** Columns as wide as their widest cell; numbers stand right. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string | number | null>>): string => {
  const cells = [head, ...rows.map((row) => row.map((cell) => (cell === null ? "" : String(cell))))]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const isNumber = head.map((_, column) => rows.every((row) => typeof row[column] !== "string"))
  return cells
    .map((row) =>
      row
        .map((cell, i) => (isNumber[i] === true ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}
