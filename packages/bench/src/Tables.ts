import * as Bars from "./Bars.ts"
import type * as Report from "./Report.ts"

type Cell = string | number | null

export interface Table {
  readonly head: ReadonlyArray<string>
  readonly cells: ReadonlyArray<ReadonlyArray<Cell>>
}

/** What was found, as tables. One without rows is left out. */
export const make = (found: {
  readonly rows: ReadonlyArray<Report.Row>
  readonly halves: ReadonlyArray<Report.Half>
  readonly costs: ReadonlyArray<Report.Cost>
  readonly growth: ReadonlyArray<Report.Growth>
  readonly sizes: ReadonlyArray<Report.Size>
}): ReadonlyArray<Table> => {
  const { rows, halves, costs, growth, sizes } = found
  const what = ({ operation, pattern, clients }: Report.What) => [operation, pattern, clients]
  const all: ReadonlyArray<Table> = [
    {
      head: [
        "operation",
        "pattern",
        "clients",
        "per s",
        "limit",
        "limit per s",
        "ratio",
        "least",
        "most",
        "first bar",
        "aim",
        "p50 ms",
        "p99 ms",
        "rounds"
      ],
      cells: rows.map((row) => {
        const bar = Bars.of(row)
        const compared = [
          row.ours_per_s,
          row.limit,
          row.limit_per_s,
          row.ratio,
          row.ratio_least,
          row.ratio_most,
          bar?.first ?? null,
          bar?.aim ?? null
        ]
        return [...what(row), ...compared, row.p50_ms, row.p99_ms, row.rounds]
      })
    },
    {
      head: ["p99 at half of its rate, or beside a flood", "pattern", "clients", "per s", "p99 ms", "compared p99 ms", "times", "at most"],
      cells: halves.map((half) => [...what(half), half.per_s, half.p99_ms, half.limit_p99_ms, half.times, half.wanted])
    },
    {
      head: ["cost of one", "pattern", "clients", "CPU µs", "WAL bytes", "round trips"],
      cells: costs.map((cost) => [...what(cost), cost.cpu_us, cost.wal_bytes, cost.round_trips])
    },
    ...Array.from(
      Map.groupBy(growth, ({ sizes }) => sizes.map(({ rows }) => rows.toLocaleString("en")).join(" ")),
      ([sizes, rows]) => ({
        head: ["growth", "pattern", "clients", ...sizes.split(" ").map((size) => `per s at ${size}`), "exponent", "at most", "rounds"],
        cells: rows.map((row) => [...what(row), ...row.sizes.map(({ per_s }) => per_s), row.exponent, row.wanted, row.rounds])
      })
    ),
    {
      head: ["size", "of", "unit", "median", "worst", "target", "first ever", "rounds"],
      cells: sizes.map((size) => [size.operation, size.pattern, size.unit, size.median, size.worst, size.target, size.first, size.rounds])
    }
  ]
  return all.filter(({ cells }) => cells.length > 0)
}

const shown = (cell: Cell): string => (cell === null ? "" : String(cell))

/** Columns as wide as their widest cell; numbers stand right. */
export const text = ({ head, cells }: Table): string => {
  const lines = [head, ...cells.map((row) => row.map(shown))]
  const widths = head.map((_, column) => Math.max(...lines.map((row) => row[column]?.length ?? 0)))
  const isNumber = head.map((_, column) => cells.every((row) => typeof row[column] !== "string"))
  return lines
    .map((row) =>
      row
        .map((cell, i) => (isNumber[i] === true ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

/** The same as Markdown. */
export const markdown = ({ head, cells }: Table): string => {
  const line = (row: ReadonlyArray<Cell>) => `| ${row.map(shown).join(" | ")} |`
  return [line(head), line(head.map(() => "---")), ...cells.map(line)].join("\n")
}
