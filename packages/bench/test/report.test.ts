import { assert, describe, it } from "@effect/vitest"
import * as Bars from "../src/Bars.ts"
import * as Chart from "../src/Chart.ts"
import * as Exponent from "../src/Exponent.ts"
import * as Pgbench from "../src/Pgbench.ts"
import * as Report from "../src/Report.ts"
import * as Tables from "../src/Tables.ts"

const what = { operation: "x", pattern: "one company", clients: 64 }
const at = (perSecond: number, p99Millis = 2) => ({ perSecond, p50Millis: 1, p99Millis })

describe("a report", () => {
  it("report: rates are compared round by round, so that a slow round is slow on both sides", () => {
    assert.deepStrictEqual(
      Report.row(
        { ...what, limit: "raw" },
        [50, 10, 30].map((rate) => at(rate)),
        [100, 20, 90].map((rate) => at(rate))
      ),
      {
        ...what,
        ours_per_s: 30,
        limit: "raw",
        limit_per_s: 90,
        ratio: 0.5,
        ratio_least: 0.333,
        ratio_most: 0.5,
        p50_ms: 1,
        p99_ms: 2,
        rounds: 3
      }
    )
  })

  it("report: latencies are compared round by round", () => {
    const rounds = [
      { ours: at(10, 30), limit: at(5, 10) },
      { ours: at(20, 4), limit: at(5, 2) },
      { ours: at(30, 100), limit: at(5, 10) }
    ]
    assert.deepStrictEqual(Report.half(what, rounds), { ...what, per_s: 20, p99_ms: 30, limit_p99_ms: 10, times: 3, wanted: 5 })
  })

  it("report: what could not be counted is left out", () => {
    const measured = { ...at(1), walBytes: 1200.4 }
    const costs = (cpuMicros: ReadonlyArray<number | undefined>) =>
      Report.cost(
        what,
        cpuMicros.map((micros) => ({ ...measured, cpuMicros: micros, roundTrips: 0.25 }))
      )
    assert.deepStrictEqual(costs([40, 80, 60]), { ...what, cpu_us: 60, wal_bytes: 1200, round_trips: 0.25 })
    assert.deepStrictEqual(costs([40, undefined]), { ...what, cpu_us: null, wal_bytes: 1200, round_trips: 0.25 })
  })

  it("report: cost growth is shown beside its limit", () => {
    const grown = Report.growth(
      { ...what, operation: "balance" },
      [1000, 100_000],
      [
        [300, 300],
        [400, 100],
        [400, 40]
      ]
    )
    assert.deepStrictEqual(grown.sizes, [
      { rows: 1000, per_s: 400 },
      { rows: 100_000, per_s: 100 }
    ])
    assert.strictEqual(grown.exponent, 0.301)
    assert.strictEqual(grown.wanted, 0.01)
  })
})

describe("a table", () => {
  const cells = [
    ["long", 5],
    ["b", 10],
    ["c", null]
  ]

  it("report: table columns are as wide as their cells", () => {
    assert.strictEqual(Tables.text({ head: ["a", "n"], cells }), "a      n\nlong   5\nb     10\nc")
  })

  it("report: tables are valid Markdown", () => {
    assert.strictEqual(Tables.markdown({ head: ["a", "n"], cells }), "| a | n |\n| --- | --- |\n| long | 5 |\n| b | 10 |\n| c |  |")
  })

  it("report: the rate table shows each goal beside its rate, and is left out without rows", () => {
    const row = Report.row({ ...what, operation: "confirm", limit: "pgbench" }, [at(500)], [at(100)])
    const tables = Tables.make({ rows: [row], halves: [], costs: [], growth: [], sizes: [] })
    assert.deepStrictEqual(
      tables.map(({ cells }) => cells),
      [[["confirm", "one company", 64, 500, "pgbench", 100, 5, 5, 5, 4, 8, 1, 2, 1]]]
    )
  })
})

describe("an exponent", () => {
  const grown = (power: number) => [1e4, 1e6, 1e7].map((rows) => ({ rows, perSecond: 1e6 / rows ** power }))

  it("report: the exponent is the power of the row count that the cost follows", () => {
    for (const power of [0, 0.12, 1, -0.5]) assert.closeTo(Exponent.fit(grown(power)) ?? NaN, power, 1e-9)
  })

  it("report: the exponent is the nearest one where the cost follows no power", () => {
    const points = [
      { rows: 10, perSecond: 100 },
      { rows: 100, perSecond: 50 },
      { rows: 1000, perSecond: 100 }
    ]
    assert.closeTo(Exponent.fit(points) ?? NaN, 0, 1e-9)
  })

  it("report: an exponent needs two sizes", () => {
    assert.isUndefined(Exponent.fit([{ rows: 10, perSecond: 1 }]))
  })
})

describe("a chart", () => {
  const series = [
    {
      name: "a < b",
      points: [[10, 1] as const, [100, 10] as const, [1000, 100] as const].map(([perSecond, millis]) => ({ perSecond, millis }))
    },
    { name: "alone", points: [{ perSecond: 100, millis: 10 }] }
  ]
  const drawn = Chart.svg("t", series)
  const circles = Array.from(drawn.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g), ([, x, y]) => ({ x: Number(x), y: Number(y) }))

  it("report: the chart has all points, load to the right, latency upwards", () => {
    const [first, second, third, fourth] = circles
    assert.strictEqual(circles.length, 4)
    assert.isBelow(first?.x ?? NaN, second?.x ?? NaN)
    assert.isAbove(first?.y ?? NaN, second?.y ?? NaN)
    assert.deepStrictEqual(fourth, second)
    // Ten times is the same way everywhere.
    assert.closeTo((third?.x ?? NaN) - (second?.x ?? NaN), (second?.x ?? NaN) - (first?.x ?? NaN), 0.2)
  })

  it("report: the chart is valid XML, whatever the names", () => {
    assert.include(drawn, "a &lt; b")
    assert.notInclude(drawn, "a < b")
    assert.notInclude(drawn, "NaN")
  })
})

describe("pgbench", () => {
  /** Each takes 5 ms more than the one before, and begins when that ends; of 128 operations each. */
  const log = Array.from({ length: 100 }, (_, i) => {
    const micros = 1_763_623_700_000_000n + BigInt(((i + 1) * (i + 2) * 5000) / 2)
    return `0 ${i} ${(i + 1) * 5000} 0 ${micros / 1_000_000n} ${micros % 1_000_000n}\n`
  }).join("")

  it("report: pgbench's rate and latencies are read from its log, without its warm-up", () => {
    assert.deepStrictEqual(Pgbench.read(log, 128, 0), { perSecond: (100 * 128 * 1000) / 25_250, p50Millis: 255, p99Millis: 500 })
    // The first 275 ms are those of ten.
    assert.deepStrictEqual(Pgbench.read(log, 1, 276), { perSecond: (90 * 1000) / (25_250 - 276), p50Millis: 280, p99Millis: 500 })
  })

  it("report: a log that ends before the warm-up has no rate", () => {
    assert.isUndefined(Pgbench.read("", 1))
    assert.isUndefined(Pgbench.read(log, 1, 60_000))
  })
})

describe("the bars", () => {
  it("report: goals are found by operation and pattern", () => {
    assert.deepStrictEqual(
      [
        Bars.of({ operation: "confirm", pattern: "one company" })?.first,
        Bars.of({ operation: "confirm", pattern: "1000 companies" })?.first
      ],
      [4, 0.8]
    )
    assert.strictEqual(Bars.of({ operation: "confirm", pattern: "one company", limit: Bars.atBest })?.aim, 5.5)
    assert.isUndefined(Bars.of({ operation: "confirm", pattern: "nobody" }))
  })
})
