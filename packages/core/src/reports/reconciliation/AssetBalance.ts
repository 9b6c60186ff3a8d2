import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import type * as Tally from "../../ledger/Tally.ts"

/**
 * Position of one of the two assets (the node's funds or the wallet's), in msat. `owned` is the amount reported
 * by the node or wallet, `ledger` is the net amount received according to our books, and `own` is the
 * operator's equity. Payments in flight explain a difference between `least` and `most`; the rest is
 * `unexplained`. For example, if 1000 is owned, 600 is equity and 500 is in the books, -100 is unexplained.
 */
export const AssetBalance = Schema.Struct({
  owned: Msat.FromString,
  own: Schema.NullOr(Msat.FromString),
  ledger: Msat.FromString,
  least: Msat.FromString,
  most: Msat.FromString,
  unexplained: Msat.FromString
})
export interface AssetBalance extends Schema.Schema.Type<typeof AssetBalance> {}

/** Range of the difference that payments in flight explain, both ends included. */
interface Slack {
  readonly least: Msat.Msat
  readonly most: Msat.Msat
}

/**
 * Returns the part of a difference that payments in flight do not explain. For example, a difference of -1500
 * with a `least` of -1000 returns -500.
 */
export const unexplained = (difference: bigint, { least, most }: Slack): bigint =>
  difference < least ? difference - least : difference > most ? difference - most : 0n

/** Returns the amounts that entered and left an asset's account between two snapshots of its totals. */
const turnover = (account: "node" | "chain", before: Tally.Turnovers, after: Tally.Turnovers) => ({
  cameIn: Msat.make(after[account].out - before[account].out),
  wentOut: Msat.make(after[account].into - before[account].into)
})

/**
 * Computes an asset's position while money moves. `mayLeave` and `mayArrive` are amounts that may have moved
 * but are not booked yet.
 */
export const of = (ask: {
  readonly account: "node" | "chain"
  readonly owned: Msat.Msat
  readonly within: Msat.Msat
  readonly own: Msat.Msat | null
  readonly before: Tally.Turnovers
  readonly after: Tally.Turnovers
  readonly mayLeave: Msat.Msat
  readonly mayArrive: Msat.Msat
}): AssetBalance => {
  const { account, owned, within, before, after, mayLeave, mayArrive } = ask
  const ledger = Msat.make(after[account].out - after[account].into)
  const { cameIn, wentOut } = turnover(account, before, after)
  const isQuiet = cameIn === 0n && wentOut === 0n && mayLeave === 0n && mayArrive === 0n
  const own = ask.own ?? (isQuiet ? Msat.make(owned - ledger) : null)
  // Bookings made after the node or wallet was read appear only in our books.
  const slack = {
    least: Msat.make(-(mayLeave + cameIn + within)),
    most: Msat.sum(mayArrive, wentOut, within)
  }
  const rest = own === null ? 0n : unexplained(owned - own - ledger, slack)
  return { owned, own, ledger, ...slack, unexplained: Msat.make(rest) }
}
