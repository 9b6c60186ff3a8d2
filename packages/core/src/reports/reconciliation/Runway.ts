import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"

const dayMillis = 24 * 3600 * 1000

/** Over how long what was sent is looked back on. */
export const spanMillis = 30 * dayMillis

/** What had ever left the wallet by a moment: a running total, of which a few are kept. */
export const Mark = Schema.Struct({ atMillis: Schema.Int, out: Msat.FromString })
export interface Mark extends Schema.Schema.Type<typeof Mark> {}

/** The marks to keep, the oldest first: one a day, the first of them as old as the span. So there are never more than its days and two. */
export const marked = (marks: ReadonlyArray<Mark>, now: Mark): ReadonlyArray<Mark> => {
  const newest = marks.at(-1)
  const all = newest === undefined || now.atMillis - newest.atMillis >= dayMillis ? [...marks, now] : marks
  const first = all.findLastIndex(({ atMillis }) => now.atMillis - atMillis >= spanMillis)
  return all.slice(Math.max(0, first))
}

/** How long a wallet lasts at the rate of the span. */
export interface Runway {
  /** What left it since then: payouts with their fees, and credits that a reorganisation took back. */
  readonly spent: Msat.Msat
  readonly sinceMillis: number
  /** With no money coming in; null where nothing was spent, or less than a day is known. */
  readonly days: number | null
}

/** 1000 owned, and 300 spent in 30 days: 100 days. Undefined before the first mark. */
export const runway = ([first]: ReadonlyArray<Mark>, now: Mark & { readonly owned: Msat.Msat }): Runway | undefined => {
  if (first === undefined) return undefined
  const [spent, elapsed] = [Msat.make(now.out - first.out), now.atMillis - first.atMillis]
  const isKnown = spent > 0n && elapsed >= dayMillis
  return { spent, sinceMillis: first.atMillis, days: isKnown ? (Number(now.owned) / Number(spent)) * (elapsed / dayMillis) : null }
}
