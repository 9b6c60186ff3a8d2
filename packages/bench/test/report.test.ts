import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Pgbench from "../src/Pgbench.ts"
import * as Report from "../src/Report.ts"
import type { Compared, Rate } from "../src/Rounds.ts"

const at = (perSecond: number, p99Millis = 2): Rate => ({ perSecond, p50Millis: 1, p99Millis })
const compared = (ours: ReadonlyArray<Rate>, limits: ReadonlyArray<Rate>): Compared => ({
  operation: "confirm",
  companies: 1,
  limit: "pgbench",
  bar: 4,
  aim: 8,
  run: () => Effect.succeed(at(1)),
  rounds: ours.flatMap((ours, round) => limits.slice(round, round + 1).map((limit) => ({ ours, limit })))
})
const cellsOf = (found: Report.Found) => Report.tables([found]).map(({ cells }) => cells)

describe("a report", () => {
  it("report: rates are compared round by round, so that a slow round is slow on both sides", () => {
    const ours = [50, 10, 30].map((rate) => at(rate))
    const limits = [100, 20, 90].map((rate) => at(rate))
    assert.deepStrictEqual(cellsOf({ rates: [compared(ours, limits)] }), [
      [["confirm", 1, 30, "pgbench, 90", "0.5 (0.333–0.5)", "4/8", "1/2", "", "", ""]]
    ])
  })

  it("report: latencies are compared round by round", () => {
    const latencies = [compared([at(10, 30), at(20, 4), at(30, 100)], [at(5, 10), at(5, 2), at(5, 10)])]
    assert.deepStrictEqual(cellsOf({ latencies }), [[["confirm", 1, 20, 30, 10, 3]]])
  })

  it("report: a cost that was not counted in every round is omitted", () => {
    const costs = (cpuMicros: ReadonlyArray<number | undefined>) => {
      const ours = cpuMicros.map((micros) => ({
        ...at(1),
        cpuMicros: micros,
        walBytes: 1200.4,
        roundTrips: 0.25
      }))
      const rates = [
        compared(
          ours,
          ours.map(() => at(1))
        )
      ]
      return cellsOf({ rates })[0]?.[0]?.slice(7)
    }
    assert.deepStrictEqual(costs([40, 80, 60]), ["60", 1200, 0.25])
    assert.deepStrictEqual(costs([40, undefined]), ["", 1200, 0.25])
  })

  it("report: cost growth is shown beside its limit", () => {
    const rounds = [
      [300, 300],
      [400, 100],
      [400, 40]
    ]
    const growth = [{ operation: "balance", companies: 1, sizes: [1000, 100_000], rounds }]
    assert.deepStrictEqual(cellsOf({ growth }), [[["balance", 1, 400, 100, 0.301, 0.01]]])
  })

  it("report: a size is shown with its worst value", () => {
    const sizes = [
      { what: "start", values: [5, 9, 7.4], target: 8 },
      { what: "memory", values: [1] }
    ]
    assert.deepStrictEqual(cellsOf({ sizes }), [
      [
        ["start", 7, 9, 8],
        ["memory", 1, 1, ""]
      ]
    ])
  })

  it("report: tables are valid Markdown with aligned columns", () => {
    const cells = [
      ["long", 5],
      ["b", ""]
    ]
    assert.strictEqual(
      Report.markdown({ head: ["a", "n"], cells }),
      "| a    | n   |\n| ---- | --- |\n| long | 5   |\n| b    |     |"
    )
  })
})

describe("an exponent", () => {
  it("report: the exponent is the power of the row count with which the cost grows", () => {
    const sizes = [1e4, 1e6, 1e7]
    for (const power of [0, 0.12, 1, -0.5]) {
      const rates = sizes.map((rows) => 1e6 / rows ** power)
      assert.closeTo(Report.exponent(sizes, rates) ?? NaN, power, 1e-9)
    }
  })

  it("report: the exponent is the best fit if the cost doesn't grow with any power", () => {
    assert.closeTo(Report.exponent([10, 100, 1000], [100, 50, 100]) ?? NaN, 0, 1e-9)
  })

  it("report: an exponent needs two sizes", () => {
    assert.isUndefined(Report.exponent([10], [1]))
  })
})

describe("pgbench", () => {
  /** Each batch of 128 operations takes 5 ms longer than the last and starts when the last ends. */
  const log = Array.from({ length: 100 }, (_, i) => {
    const micros = 1_763_623_700_000_000n + BigInt(((i + 1) * (i + 2) * 5000) / 2)
    return `0 ${i} ${(i + 1) * 5000} 0 ${micros / 1_000_000n} ${micros % 1_000_000n}\n`
  }).join("")

  it("report: pgbench's rate and latencies are read from its log, without the warm-up", () => {
    assert.deepStrictEqual(Pgbench.read(log, 128, 0), {
      perSecond: (100 * 128 * 1000) / 25_250,
      p50Millis: 255,
      p99Millis: 500
    })
    // Ten batches end in the first 275 ms.
    assert.deepStrictEqual(Pgbench.read(log, 1, 276), {
      perSecond: (90 * 1000) / (25_250 - 276),
      p50Millis: 280,
      p99Millis: 500
    })
  })

  it("report: a log that ends before the warm-up is over has no rate", () => {
    assert.isUndefined(Pgbench.read("", 1))
    assert.isUndefined(Pgbench.read(log, 1, 60_000))
  })
})
