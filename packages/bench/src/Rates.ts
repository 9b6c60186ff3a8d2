import { Effect } from "effect"
import type { Group } from "./Runs.ts"
import type { Measured } from "./Pgbench.ts"
import type * as Pgbench from "./Pgbench.ts"
import type { BenchFailed } from "./Program.ts"
import * as Report from "./Report.ts"

export interface Options {
  readonly rounds: number
  readonly wanted: (operation: string) => boolean
  readonly tell: (line: string) => void
}

/** Everything that the rounds showed. */
export interface Rates {
  readonly rows: ReadonlyArray<Report.Row>
  readonly costs: ReadonlyArray<Report.Cost>
  readonly halves: ReadonlyArray<Report.Half>
  readonly latencies: ReadonlyArray<Report.Latency>
}

interface Seen {
  readonly ours: Array<Measured>
  readonly limits: Array<Pgbench.Outcome>
  readonly halves: Array<{ readonly ours: Pgbench.Outcome; readonly limit: Pgbench.Outcome }>
}

/** The loads of the curve, as parts of the own rate. */
const parts = [0.1, 0.25, 0.5, 0.75, 0.9]
const curves = new Set(["balance", "confirm"])

/** Rounds that hold one of each operation and its limit, and latencies under other loads after them. */
export const measure = (groups: ReadonlyArray<Group>, { rounds, wanted, tell }: Options): Effect.Effect<Rates, BenchFailed> =>
  Effect.gen(function* () {
    const chosen = groups.flatMap((group) => {
      const operations = group.operations.filter(({ what }) => wanted(what.operation))
      return operations.length === 0 ? [] : [{ ...group, operations }]
    })
    const seen = chosen.map(({ operations }) => operations.map((): Seen => ({ ours: [], limits: [], halves: [] })))
    // What is compiled while it runs becomes fast in the first second or two.
    for (const { operations } of chosen) for (const { run } of operations) yield* run()
    for (let round = 1; chosen.length > 0 && round <= rounds; round++) {
      for (const [g, group] of chosen.entries()) {
        const limit = yield* group.run()
        for (const [o, { run }] of group.operations.entries()) {
          const entry = seen[g]?.[o]
          const ours = yield* run()
          entry?.ours.push(ours)
          entry?.limits.push(limit)
          if (group.half && o === 0)
            entry?.halves.push({ ours: yield* run(ours.perSecond / 2), limit: yield* group.run(limit.perSecond / 2) })
        }
      }
      tell(`rates: round ${round} of ${rounds}`)
    }
    const all = chosen.flatMap((group, g) =>
      group.operations.map((operation, o) => ({
        ...operation,
        limit: group.limit,
        ...(seen[g]?.[o] ?? { ours: [], limits: [], halves: [] })
      }))
    )
    const rows = all.map(({ what, limit, ours, limits }) => Report.row({ ...what, limit }, ours, limits))
    const latencies: Array<Report.Latency> = []
    for (const [i, { what, run }] of all.entries()) {
      if (!curves.has(what.operation) || what.clients > 64) continue
      for (const part of parts) latencies.push(Report.latency(what, part, yield* run((rows[i]?.ours_per_s ?? 0) * part)))
      tell(`latency against load: ${what.operation}, ${what.pattern}`)
    }
    return {
      rows,
      latencies,
      costs: all.map(({ what, ours }) => Report.cost(what, ours)),
      halves: all.flatMap(({ what, halves }) => (halves.length === 0 ? [] : [Report.half(what, halves)]))
    }
  })
