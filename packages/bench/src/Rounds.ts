import { Effect } from "effect"
import type { BenchFailed } from "./Program.ts"
import type { Bench } from "./Subject.ts"

/** The results of a run. Only the rate is always present. */
export interface Rate {
  readonly perSecond: number
  readonly p50Millis?: number
  readonly p99Millis?: number
  readonly cpuMicros?: number | undefined
  readonly walBytes?: number
  readonly roundTrips?: number | undefined
}

/** Measures an operation for the configured time, either at maximum speed or at random times at this rate. */
export type Run = (perSecond?: number) => Effect.Effect<Rate, BenchFailed>

export interface What {
  readonly operation: string
  /** Number of companies that share the load. */
  readonly companies: number
}

export interface Operation extends What {
  readonly run: Run
  /** The minimum of the ratio to the limit. `aim` is the goal for it. */
  readonly bar?: number
  readonly aim?: number
  /**
   * The goal for the exponent of the operation's cost as a power of the number of history rows. If undefined,
   * growth is not measured.
   */
  readonly grows?: number
}

/** A limit, and the operations that are compared with it. The limit is measured again in each round. */
export interface Group {
  readonly limit: string
  readonly run: Run
  readonly operations: ReadonlyArray<Operation>
  /** Also measures p99 of the first operation and of the limit, each at half its maximum rate. */
  readonly half?: true
}

/** An operation and its limit, measured in the same rounds. */
export interface Compared extends Operation {
  readonly limit: string
  readonly rounds: ReadonlyArray<{ readonly ours: Rate; readonly limit: Rate }>
}

/** Rotates the order in each round, so that no operation is always first or last. */
const turned = <A>(all: ReadonlyArray<A>, round: number): ReadonlyArray<A> => {
  const from = all.length === 0 ? 0 : round % all.length
  return [...all.slice(from), ...all.slice(0, from)]
}

/** Measures each selected operation and its limit once per round. */
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
  const rates = all.flatMap(({ limit, operations, sides: [its, ...ours] }) =>
    operations.map((operation, at) => ({
      ...operation,
      limit,
      rounds: (its?.outcomes ?? []).flatMap((limit, round) => {
        const found = ours[at]?.outcomes[round]
        return found === undefined ? [] : [{ ours: found, limit }]
      })
    }))
  )
  const latencies = all.flatMap(({ halves, operations, limit }) =>
    operations.slice(0, Math.min(1, halves.length)).map((operation) => ({ ...operation, limit, rounds: halves }))
  )
  return { rates, latencies }
})

/**
 * The rates of one operation in databases of different sizes. Each round has one rate per size, in the order of
 * `sizes`.
 */
export interface Grown extends What {
  readonly sizes: ReadonlyArray<number>
  readonly rounds: ReadonlyArray<ReadonlyArray<number>>
  readonly atMost: number
}

/** Measures one operation at all sizes. Each round measures every size once. */
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
