import { Effect } from "effect"
import * as Bars from "./Bars.ts"
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

/** The loads of the curve, as parts of the own rate. */
const parts = [0.1, 0.25, 0.5, 0.75, 0.9]
const curves = new Set(["balance", "confirm"])

/** Each round begins elsewhere: what comes first or last in one is not always the same. */
const turned = <A>(all: ReadonlyArray<A>, round: number): ReadonlyArray<A> => {
  const from = all.length === 0 ? 0 : round % all.length
  return [...all.slice(from), ...all.slice(0, from)]
}

/** Runs it once, and keeps what came of it. */
const one = <A>({ outcomes, run }: { readonly outcomes: Array<A>; readonly run: () => Effect.Effect<A, BenchFailed> }) =>
  Effect.map(run(), (outcome) => void outcomes.push(outcome))

/** Rounds that hold one of each operation and its limit, and latencies under other loads after them. */
export const measure = (groups: ReadonlyArray<Group>, { rounds, wanted, tell }: Options): Effect.Effect<Rates, BenchFailed> =>
  Effect.gen(function* () {
    const chosen = groups.flatMap((group) => {
      const operations = group.operations.filter(({ what }) => wanted(what.operation))
      return operations.length === 0 ? [] : [{ ...group, operations }]
    })
    const all = chosen.map(({ half, operations, other, ...first }) => ({
      half,
      limits: [first, ...(other === undefined ? [] : [other])].map(({ limit, run }) => ({
        limit,
        run,
        outcomes: new Array<Pgbench.Rate>()
      })),
      operations: operations.map(({ run, what }) => ({ run, what, outcomes: new Array<Measured>() })),
      halves: new Array<{ readonly ours: Pgbench.Rate; readonly limit: Pgbench.Rate }>()
    }))
    // What is compiled while it runs becomes fast in the first second or two.
    for (const { operations } of chosen) for (const { run } of operations) yield* run()
    for (let round = 0; all.length > 0 && round < rounds; round++) {
      for (const { half, halves, limits, operations } of turned(all, round)) {
        const steps = [...limits.map(one), ...operations.map(one)]
        for (const step of turned(steps, round)) yield* step
        const [limit, operation] = [limits[0], operations[0]]
        const [its, ours] = [limit?.outcomes.at(-1), operation?.outcomes.at(-1)]
        if (half && limit && operation && its && ours)
          halves.push({ ours: yield* operation.run(ours.perSecond / 2), limit: yield* limit.run(its.perSecond / 2) })
      }
      tell(`rates: round ${round + 1} of ${rounds}`)
    }
    const operations = all.flatMap(({ operations }) => operations)
    const latencies: Array<Report.Latency> = []
    const isAlone = all.every(({ limits }) => limits.every(({ limit }) => limit !== Bars.otherBuild))
    for (const { outcomes, run, what } of isAlone ? operations : []) {
      if (!curves.has(what.operation) || what.clients > 64) continue
      const rate = Report.median(outcomes.map(({ perSecond }) => perSecond))
      for (const part of parts) latencies.push(Report.latency(what, part, yield* run(rate * part)))
      tell(`latency against load: ${what.operation}, ${what.pattern}`)
    }
    return {
      rows: all.flatMap(({ limits, operations }) =>
        limits.flatMap((limit) =>
          operations.map(({ outcomes, what }) => Report.row({ ...what, limit: limit.limit }, outcomes, limit.outcomes))
        )
      ),
      latencies,
      costs: all.flatMap(({ limits, operations }) => [
        ...operations.map(({ outcomes, what }) => Report.cost(what, outcomes)),
        // The other build's, where that is the limit.
        ...limits.flatMap(({ limit, outcomes }) => {
          const measured = outcomes.filter((outcome): outcome is Measured => "cpuMicros" in outcome)
          return limit !== Bars.otherBuild
            ? []
            : operations.map(({ what }) => Report.cost({ ...what, operation: `${what.operation}, ${limit}` }, measured))
        })
      ]),
      halves: all.flatMap(({ halves, operations }) =>
        operations.slice(0, halves.length === 0 ? 0 : 1).map(({ what }) => Report.half(what, halves))
      )
    }
  })
