import { Effect } from "effect"
import type { BenchFailed } from "./Program.ts"
import type { Bench } from "./Subject.ts"

/** The results of a run. Only the rate is always known. */
export interface Rate {
  readonly perSecond: number
  readonly p50Millis?: number
  readonly p99Millis?: number
  readonly cpuMicros?: number | undefined
  readonly walBytes?: number
  readonly roundTrips?: number | undefined
}

/** Measures an operation for a while, at maximum speed or at random times at this rate. */
export type Run = (perSecond?: number) => Effect.Effect<Rate, BenchFailed>

export interface What {
  readonly operation: string
  /** Number of companies that share the load. */
  readonly companies: number
}

export interface Operation extends What {
  readonly run: Run
  /** The minimum ratio to the limit, and the goal. */
  readonly bar?: number
  readonly aim?: number
  /** The goal for the exponent with which its cost grows with the rows of history. Without one, growth is not measured. */
  readonly grows?: number
}

/** Operations that are compared with a limit, which is measured along with them in each round. */
export interface Group {
  readonly limit: string
  readonly run: Run
  readonly operations: ReadonlyArray<Operation>
  /** Also measures p99 of the first operation and of the limit, each at half its rate. */
  readonly half?: true
  /** Compares p99 instead of rates. */
  readonly p99?: true
}

/** An operation and its limit, measured in the same rounds. */
export interface Compared extends Operation {
  readonly limit: string
  readonly rounds: ReadonlyArray<{ readonly ours: Rate; readonly limit: Rate }>
}

/** Starts each round with a different operation, so that none is always first or last. */
const turned = <A>(all: ReadonlyArray<A>, round: number): ReadonlyArray<A> => {
  const from = all.length === 0 ? 0 : round % all.length
  return [...all.slice(from), ...all.slice(0, from)]
}

/** Measures each wanted operation and its limit once per round. */
export const measure = Effect.fnUntraced(function* (
  groups: ReadonlyArray<Group>,
  { rounds, wanted, tell }: Bench
): Effect.fn.Return<{ readonly rates: ReadonlyArray<Compared>; readonly latencies: ReadonlyArray<Compared> }, BenchFailed> {
  const chosen = groups
    .map((group) => ({ ...group, operations: group.operations.filter(({ operation }) => wanted(operation)) }))
    .filter(({ operations }) => operations.length > 0)
  // The first run is not counted, because code is compiled during it.
  for (const { operations } of chosen) for (const { run } of operations) yield* run()
  const all = chosen.map((group) => ({
    ...group,
    sides: [group.run, ...group.operations.map(({ run }) => run)].map((run) => ({ run, outcomes: new Array<Rate>() })),
    halves: new Array<{ readonly ours: Rate; readonly limit: Rate }>()
  }))
  for (let round = 0; all.length > 0 && round < rounds; round++) {
    for (const { half, halves, sides } of turned(all, round)) {
      for (const { run, outcomes } of turned(sides, round)) outcomes.push(yield* run())
      const [limit, ours] = sides
      if (half === undefined || limit === undefined || ours === undefined) continue
      const halved = ({ run, outcomes }: typeof ours) => run((outcomes.at(-1)?.perSecond ?? 2) / 2)
      halves.push({ ours: yield* halved(ours), limit: yield* halved(limit) })
    }
    tell(`round ${round + 1} of ${rounds}`)
  }
  const compared = all.flatMap(({ limit, operations, sides: [its, ...ours], p99 }) =>
    operations.map((operation, at) => ({
      ...operation,
      limit,
      p99,
      rounds: (its?.outcomes ?? []).flatMap((limit, round) => {
        const found = ours[at]?.outcomes[round]
        return found === undefined ? [] : [{ ours: found, limit }]
      })
    }))
  )
  const half = all.flatMap(({ halves, operations, limit }) =>
    operations.slice(0, Math.min(1, halves.length)).map((operation) => ({ ...operation, limit, rounds: halves }))
  )
  return { rates: compared.filter(({ p99 }) => p99 === undefined), latencies: [...half, ...compared.filter(({ p99 }) => p99 === true)] }
})

/** Rates of one operation by size of the database: for each round, in the order of `sizes`. */
export interface Grown extends What {
  readonly sizes: ReadonlyArray<number>
  readonly rounds: ReadonlyArray<ReadonlyArray<number>>
  readonly atMost: number
}

/** Measures one operation at all sizes, one after the other in each round. */
export const grown = Effect.fnUntraced(function* (
  what: What,
  atMost: number,
  runs: ReadonlyArray<readonly [size: number, run: Run]>,
  { rounds, tell }: Bench
): Effect.fn.Return<Grown, BenchFailed> {
  const all = Effect.forEach(runs, ([, run]) => Effect.map(run(), ({ perSecond }) => perSecond))
  yield* all
  const rates: Array<ReadonlyArray<number>> = []
  for (let round = 0; round < rounds; round++) rates.push(yield* all)
  tell(`growth: ${what.operation}`)
  return { ...what, sizes: runs.map(([size]) => size), rounds: rates, atMost }
})
