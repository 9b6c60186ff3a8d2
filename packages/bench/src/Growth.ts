import { Effect } from "effect"
import type { Group } from "./Runs.ts"
import type { BenchFailed } from "./Program.ts"
import type { Options } from "./Rates.ts"
import * as Report from "./Report.ts"

/** What a row of the past takes on disk with everything that goes with it, indexes too. */
const bytesPerRow = 1600

/** What the database keeps of its log, and of what is being sorted. */
const besidesGibibytes = 6

/** How much room databases of these sizes want, in GiB. */
export const gibibytes = (sizes: ReadonlyArray<number>): number =>
  besidesGibibytes + Math.ceil((sizes.reduce((sum, rows) => sum + rows, 0) * bytesPerRow) / 2 ** 30)

/** The same operations on databases that differ in size alone: one after the other in every round, so that a slow round is slow on all. */
export const measure = (
  sizes: ReadonlyArray<{ readonly rows: number; readonly groups: ReadonlyArray<Group> }>,
  { rounds, wanted, tell }: Options
): Effect.Effect<ReadonlyArray<Report.Growth>, BenchFailed> =>
  Effect.gen(function* () {
    const rows = sizes.map((size) => size.rows)
    const bySize = sizes.map(({ groups }) => groups.flatMap(({ operations }) => operations).filter(({ what }) => wanted(what.operation)))
    const grown: Array<Report.Growth> = []
    for (const [i, { what }] of (bySize[0] ?? []).entries()) {
      const same = bySize.flatMap((operations) => operations[i] ?? [])
      for (const { run } of same) yield* run()
      const rates: Array<ReadonlyArray<number>> = []
      for (let round = 0; round < rounds; round++)
        rates.push(yield* Effect.forEach(same, ({ run }) => Effect.map(run(), ({ perSecond }) => perSecond)))
      grown.push(Report.growth(what, rows, rates))
      tell(`growth: ${what.operation}, ${what.pattern}`)
    }
    return grown
  })
