import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import type { Account } from "./Change.ts"

/** The same for each account. */
export const byAccount = <A>(of: (account: Account) => A): { readonly [account in Account]: A } => ({
  available: of("available"),
  held: of("held"),
  node: of("node"),
  chain: of("chain"),
  service_fees: of("service_fees"),
  network_fees: of("network_fees"),
  suspense: of("suspense"),
  loss: of("loss"),
  adjustments: of("adjustments"),
  internal: of("internal")
})

/** What was ever booked into an account and out of it. Both only grow: what was booked between two tallies is their difference. */
const Turnover = Schema.Struct({ into: Msat.FromString, out: Msat.FromString })
export interface Turnover extends Schema.Schema.Type<typeof Turnover> {}

const Turnovers = Schema.Struct(byAccount(() => Turnover))
export interface Turnovers extends Schema.Schema.Type<typeof Turnovers> {}

/** What all entries of all companies come to, and how to count on from there without counting them again. */
export const Tally = Schema.Struct({
  accounts: Turnovers,
  /** The store's own: how far entries were counted for good, and what they came to by then. */
  mark: Schema.String,
  counted: Turnovers
})
export interface Tally extends Schema.Schema.Type<typeof Tally> {}

export const none: Turnover = { into: Msat.zero, out: Msat.zero }
export const nothing: Turnovers = byAccount(() => none)

/** Both together. */
export const add = (a: Turnovers, b: Turnovers): Turnovers =>
  byAccount((account) => ({
    into: Msat.sum(a[account].into, b[account].into),
    out: Msat.sum(a[account].out, b[account].out)
  }))

/** What is in an account. Of an asset it is less than nothing: what came in from outside came out of it. */
export const net = ({ into, out }: Turnover): Msat.Msat => Msat.make(into - out)
