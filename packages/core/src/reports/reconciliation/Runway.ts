import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"

const dayMillis = 24 * 3600 * 1000

/** Period over which spending is measured. */
export const spanMillis = 30 * dayMillis

/** Total ever sent from the wallet up to a point in time. */
export const Mark = Schema.Struct({ atMillis: Schema.Int, out: Msat.FromString })
export interface Mark extends Schema.Schema.Type<typeof Mark> {}

/**
 * Returns the marks to keep, oldest first. Keeps one mark per day, starting with the newest mark that is at
 * least as old as the period. The number of marks exceeds the number of days in the period by at most two. Drops
 * marks that were made while the clock was ahead.
 */
export const marked = (marks: ReadonlyArray<Mark>, now: Mark): ReadonlyArray<Mark> => {
  const before = marks.filter(({ atMillis }) => atMillis <= now.atMillis)
  const newest = before.at(-1)
  const all = newest === undefined || now.atMillis - newest.atMillis >= dayMillis ? [...before, now] : before
  const first = all.findLastIndex(({ atMillis }) => now.atMillis - atMillis >= spanMillis)
  return all.slice(Math.max(0, first))
}

/** The time for which a wallet's funds last at the spending rate of the period. */
export interface Runway {
  /** Amount sent since `sinceMillis`: payouts with their fees, and credits reversed after a reorganization. */
  readonly spent: Msat.Msat
  readonly sinceMillis: number
  /**
   * Days that the funds last without receipts; null if nothing was spent, or if less than a day of spending is
   * known.
   */
  readonly days: number | null
}

/**
 * Computes the runway. For example, it is 100 days if 1000 is owned and 300 was spent in 30 days. Returns
 * undefined before the first mark.
 */
export const runway = (
  [first]: ReadonlyArray<Mark>,
  now: Mark & { readonly owned: Msat.Msat }
): Runway | undefined => {
  if (first === undefined) return undefined
  const [spent, elapsed] = [Msat.make(now.out - first.out), now.atMillis - first.atMillis]
  const isKnown = spent > 0n && elapsed >= dayMillis
  return {
    spent,
    sinceMillis: first.atMillis,
    days: isKnown ? (Number(now.owned) / Number(spent)) * (elapsed / dayMillis) : null
  }
}
