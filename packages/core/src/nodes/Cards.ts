import type { Msat } from "@satrail/bitcoin/Msat"
import { Context, type Effect } from "effect"

/**
 * What became of asking a card's server to pay an invoice. `asked`: it said that it will. `unknown`: it was asked, and what it does is not known.
 * `refused`: it pays nothing, and `reason` completes "the card cannot pay: …".
 */
export type Outcome = { readonly _tag: "asked" } | { readonly _tag: "unknown" } | { readonly _tag: "refused"; readonly reason: string }

/** Has cards pay (LUD-03). Money only comes in: that it came, the node says. */
export interface Reader {
  /** Asks the server behind a card's link to pay this invoice, which is over exactly `amount`. */
  readonly charge: (url: string, invoice: { readonly amount: Msat; readonly paymentRequest: string }) => Effect.Effect<Outcome>
}

/** Where a host has none, pages take no cards. */
export const Cards = Context.Reference<Reader | undefined>("@satrail/core/nodes/Cards", { defaultValue: () => undefined })
