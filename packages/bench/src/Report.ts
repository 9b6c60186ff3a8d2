import type { Compared, Grown, Rate } from "./Rounds.ts"

type Cell = string | number

export interface Table {
  readonly head: ReadonlyArray<string>
  readonly cells: ReadonlyArray<ReadonlyArray<Cell>>
}

/** A measured time, memory size or count. Smaller is better. */
export interface Size {
  readonly what: string
  readonly values: ReadonlyArray<number>
  readonly target?: number
}

/** Returns the middle value, or the lower of the two middle values. */
export const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[(values.length - 1) >> 1] ?? NaN

const rounded = (value: number, digits = 0) => Number(value.toFixed(digits))

/** Returns the median of a value if it is known in every round; otherwise returns empty text. */
const known = (rates: ReadonlyArray<Rate>, member: keyof Rate, digits = 0): Cell => {
  const values = rates.flatMap((rate) => rate[member] ?? [])
  return values.length === 0 || values.length < rates.length ? "" : rounded(median(values), digits)
}

const ratioOf = ({ rounds }: Compared, member: "perSecond" | "p99Millis", digits: number) => {
  const ratios = rounds.map(({ ours, limit }) => (ours[member] ?? NaN) / (limit[member] ?? NaN))
  return [median(ratios), Math.min(...ratios), Math.max(...ratios)].map((ratio) => rounded(ratio, digits))
}

const slashed = (cells: ReadonlyArray<Cell | undefined>): string =>
  cells.filter((cell) => cell !== undefined && cell !== "").join("/")

const sides = ({ rounds }: Compared) => ({
  ours: rounds.map(({ ours }) => ours),
  limit: rounds.map(({ limit }) => limit)
})

const rateRow = (compared: Compared): ReadonlyArray<Cell> => {
  const { operation, companies, limit: name, bar, aim } = compared
  const { ours, limit } = sides(compared)
  const [ratio = NaN, least, most] = ratioOf(compared, "perSecond", 3)
  const rates = [
    known(ours, "perSecond"),
    `${name}, ${known(limit, "perSecond")}`,
    `${ratio} (${least}–${most})`,
    slashed([bar, aim])
  ]
  const latency = slashed([known(ours, "p50Millis", 2), known(ours, "p99Millis", 2)])
  const cpu = slashed([known(ours, "cpuMicros", 1), known(limit, "cpuMicros", 1)])
  return [operation, companies, ...rates, latency, cpu, known(ours, "walBytes"), known(ours, "roundTrips", 3)]
}

const latencyRow = (compared: Compared): ReadonlyArray<Cell> => {
  const { operation, companies } = compared
  const { ours, limit } = sides(compared)
  const [times = NaN] = ratioOf(compared, "p99Millis", 2)
  return [
    operation,
    companies,
    known(ours, "perSecond"),
    known(ours, "p99Millis", 2),
    known(limit, "p99Millis", 2),
    times
  ]
}

const sizeRow = ({ what, values, target }: Size): ReadonlyArray<Cell> => {
  const digits = target !== undefined && target < 5 ? 1 : 0
  return [what, rounded(median(values), digits), rounded(Math.max(...values), digits), target ?? ""]
}

/**
 * Returns the exponent of cost as a power of the number of rows: 0 if the cost is constant, 1 if it is linear.
 * It is fitted by least squares to the logarithms. Undefined if there are fewer than two sizes.
 */
export const exponent = (
  sizes: ReadonlyArray<number>,
  perSecond: ReadonlyArray<number>
): number | undefined => {
  const [xs, ys] = [sizes.map(Math.log), perSecond.map((rate) => -Math.log(rate))]
  const mean = (values: ReadonlyArray<number>) =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  const [x0, y0] = [mean(xs), mean(ys)]
  const spread = xs.reduce((sum, x) => sum + (x - x0) ** 2, 0)
  return spread === 0
    ? undefined
    : xs.reduce((sum, x, at) => sum + (x - x0) * ((ys[at] ?? NaN) - y0), 0) / spread
}

/** The goal for the exponents. */
const maxExponent = 0.01

const growthRow = ({ operation, companies, sizes, rounds }: Grown): ReadonlyArray<Cell> => {
  const exponents = rounds.flatMap((rates) => exponent(sizes, rates) ?? [])
  const rates = sizes.map((_, at) => rounded(median(rounds.map((rates) => rates[at] ?? NaN))))
  return [
    operation,
    companies,
    ...rates,
    exponents.length === 0 ? "" : rounded(median(exponents), 3),
    maxExponent
  ]
}

/** The results of a part of the benchmark. */
export interface Found {
  readonly rates?: ReadonlyArray<Compared>
  readonly latencies?: ReadonlyArray<Compared>
  readonly sizes?: ReadonlyArray<Size>
  readonly growth?: ReadonlyArray<Grown>
}

/** Returns the tables for docs/performance.md, without empty tables. */
export const tables = (found: ReadonlyArray<Found>): ReadonlyArray<Table> => {
  const columns =
    "operation, companies, per s, limit per s, ratio (range), bar/aim, p50/p99 ms, CPU µs/limit, WAL bytes, round trips"
  const latency = "operation, companies, per s, p99 ms, compared with ms, times"
  const grown = found.flatMap(({ growth = [] }) => growth)
  const all: ReadonlyArray<Table> = [
    { head: columns.split(", "), cells: found.flatMap(({ rates = [] }) => rates.map(rateRow)) },
    { head: latency.split(", "), cells: found.flatMap(({ latencies = [] }) => latencies.map(latencyRow)) },
    {
      head: ["startup, memory and delay", "median", "worst", "target"],
      cells: found.flatMap(({ sizes = [] }) => sizes.map(sizeRow))
    },
    {
      head: [
        "operation",
        "companies",
        ...(grown[0]?.sizes ?? []).map((size) => `at ${size.toLocaleString("en")}`),
        "exponent",
        "at most"
      ],
      cells: grown.map(growthRow)
    }
  ]
  return all.filter(({ cells }) => cells.length > 0)
}

/** Formats a table as Markdown. Each column is as wide as its widest cell. */
export const markdown = ({ head, cells }: Table): string => {
  const rows = [head, ...cells].map((row) => row.map(String))
  const widths = head.map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: ReadonlyArray<string>, fill = " ") =>
    `| ${widths.map((width, at) => (row[at] ?? "").padEnd(width, fill)).join(" | ")} |`
  const [first = [], ...rest] = rows
  return [line(first), line([], "-"), ...rest.map((row) => line(row))].join("\n")
}
