import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import type * as Tally from "../../ledger/Tally.ts"

/**
 * One of the two assets. `owned` is what node or chain say, `ledger` what our books say came in and has not gone out, `own` the operator's own. What is on
 * its way explains a difference between `least` and `most`; the rest is `unexplained`: of 1000 owned, 600 own and 500 in the books, -100.
 */
export const Side = Schema.Struct({
  owned: Msat.FromString,
  own: Schema.NullOr(Msat.FromString),
  ledger: Msat.FromString,
  least: Msat.FromString,
  most: Msat.FromString,
  unexplained: Msat.FromString
})
export interface Side extends Schema.Schema.Type<typeof Side> {}

/** How far what is owned may be from what the books say, for what is on its way; both ends included. */
interface Slack {
  readonly least: Msat.Msat
  readonly most: Msat.Msat
}

/** What of a balance's difference is not explained by what is on its way. -1500 with at least -1000 is -500. */
export const unexplained = (difference: bigint, { least, most }: Slack): bigint =>
  difference < least ? difference - least : difference > most ? difference - most : 0n

/** What came in and went out of an asset's account between two tallies. */
const turnover = (account: "node" | "chain", before: Tally.Turnovers, after: Tally.Turnovers) => ({
  cameIn: Msat.make(after[account].out - before[account].out),
  wentOut: Msat.make(after[account].into - before[account].into)
})

/** An asset, as far as it can be known while money moves. `mayLeave` and `mayArrive` are what may have moved there and is not booked yet. */
export const of = (ask: {
  readonly account: "node" | "chain"
  readonly owned: Msat.Msat
  readonly within: Msat.Msat
  readonly own: Msat.Msat | null
  readonly before: Tally.Turnovers
  readonly after: Tally.Turnovers
  readonly mayLeave: Msat.Msat
  readonly mayArrive: Msat.Msat
}): Side => {
  const { account, owned, within, before, after, mayLeave, mayArrive } = ask
  const ledger = Msat.make(after[account].out - after[account].into)
  const { cameIn, wentOut } = turnover(account, before, after)
  const isQuiet = cameIn === 0n && wentOut === 0n && mayLeave === 0n && mayArrive === 0n
  const own = ask.own ?? (isQuiet ? Msat.make(owned - ledger) : null)
  // What was booked after the other side had been asked is in our books alone.
  const slack = { least: Msat.make(-(mayLeave + cameIn + within)), most: Msat.sum(mayArrive, wentOut, within) }
  const rest = own === null ? 0n : unexplained(owned - own - ledger, slack)
  return { owned, own, ledger, ...slack, unexplained: Msat.make(rest) }
}
