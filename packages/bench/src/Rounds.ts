import { Effect } from "effect"
import type { BenchFailed } from "./Program.ts"
import type { Bench } from "./Subject.ts"

/** The results of a run. Only the rate is always present. */
export interface Rate {
  readonly perSecond: number
  readonly p50Millis?: number
  readonly p99Millis?: number
  readonly cpuMicros?: number | undefined
  readonly walBytes?: number | undefined
  readonly roundTrips?: number | undefined
}

/** Measures an operation for the configured time, either at maximum speed or at random times at this rate. */
export type Run = (perSecond?: number) => Effect.Effect<Rate, BenchFailed>

export interface Operation {
  readonly operation: string
  /** Number of companies that share the load. */
  readonly companies: number
  readonly run: Run
  /** The minimum of the ratio to the limit. `aim` is the goal for it. */
  readonly bar?: number
  readonly aim?: number
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
): Effect.fn.Return<
  { readonly rates: ReadonlyArray<Compared>; readonly latencies: ReadonlyArray<Compared> },
  BenchFailed
> {
  const chosen = groups.flatMap(({ operations, ...group }) => {
    const empty = () => new Array<Compared["rounds"][number]>()
    const rows = operations
      .filter(({ operation }) => wanted(operation))
      .map((row) => ({ ...row, limit: group.limit, rounds: empty() }))
    return rows.slice(0, 1).map((first) => ({ ...group, rows, halved: { ...first, rounds: empty() } }))
  })
  // The first run is not counted, because code is compiled during it.
  for (const group of chosen) for (const { run } of [group, ...group.rows]) yield* run()
  for (let round = 0; chosen.length > 0 && round < rounds; round++) {
    for (const { run, half, rows, halved } of turned(chosen, round)) {
      const rates = new Map<Run, Rate>()
      for (const one of turned([run, ...rows.map(({ run }) => run)], round)) rates.set(one, yield* one())
      const rateOf = (one: Run) => rates.get(one) ?? { perSecond: NaN }
      for (const row of rows) row.rounds.push({ ours: rateOf(row.run), limit: rateOf(run) })
      const atHalf = (one: Run) => one(rateOf(one).perSecond / 2)
      if (half === true) halved.rounds.push({ ours: yield* atHalf(halved.run), limit: yield* atHalf(run) })
    }
    tell(`round ${round + 1} of ${rounds}`)
  }
  return {
    rates: chosen.flatMap(({ rows }) => rows),
    latencies: chosen.flatMap(({ half, halved }) => (half === true ? [halved] : []))
  }
})

/**
 * The rates of one operation in databases of different sizes. Each round has one rate per size, in the order of
 * `sizes`.
 */
export interface Grown extends Pick<Operation, "operation" | "companies"> {
  readonly sizes: ReadonlyArray<number>
  readonly rounds: ReadonlyArray<ReadonlyArray<number>>
}

/** Measures one operation at all sizes. Each round measures every size once. */
export const grown = Effect.fnUntraced(function* (
  { operation, companies }: Operation,
  sizes: ReadonlyArray<number>,
  runs: ReadonlyArray<Run>,
  bench: Bench
): Effect.fn.Return<Grown, BenchFailed> {
  const all = Effect.forEach(runs, (run) => Effect.map(run(), ({ perSecond }) => perSecond))
  yield* all
  const rounds: Array<ReadonlyArray<number>> = []
  for (let round = 0; round < bench.rounds; round++) rounds.push(yield* all)
  bench.tell(`growth: ${operation}`)
  return { operation, companies, sizes, rounds }
})
