import type { Bolt12 } from "@satrail/bitcoin/Bolt12"
import type { Msat } from "@satrail/bitcoin/Msat"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Context, Effect, Option, type Stream } from "effect"
import type { NodeUnavailable } from "./LightningReceiver.ts"
import type { NotSent, Payment, Quote } from "./LightningSender.ts"

/**
 * The state of a payment by offer: a `Payment`, which says the payment hash once it is settled. That is the hash of the invoice that the issuer of the offer chose:
 * its preimage proves the payment, and it is no identity. It may be the hash of anything.
 */
export type OfferPayment =
  | (Extract<Payment, { readonly _tag: "settled" }> & { readonly paymentHash: PaymentHash.PaymentHash })
  | Exclude<Payment, { readonly _tag: "settled" }>

/**
 * What is to be paid. `attempt` is ours, stored before the node is called: a UUID, under which the node keeps its payment and finds it again. `amount` is for one item
 * and at least the offer's own; at most `feeLimit` goes to routing on top.
 */
export interface OfferAsk {
  readonly attempt: string
  readonly offer: Bolt12
  readonly amount: Msat
  readonly feeLimit: Msat
}

/** A node that pays offers (BOLT 12) for us. A node that cannot has no layer for it, and then no offer is accepted. */
export class OfferSender extends Context.Service<
  OfferSender,
  {
    /** How long after `payOffer` was asked, or our process died, a call may still reach the node. What is later than that is never sent. */
    readonly graceMillis: number
    /**
     * Asks the issuer of the offer for one invoice of `amount`, and pays it with at most `feeLimit` on top: never more, and never an invoice of another amount.
     * Never fails: not to know is an answer. Answers within seconds: what takes longer, the issuer's answer too, is `pending`. What the node refuses before it tries is
     * `failed`, an issuer that refuses or does not answer in the end too.
     * The same attempt asks for one invoice and is paid at most once, however often and by however many it is asked; one that has failed stays so.
     * What is `notSent` may be asked again at once; what is `unknown` only after `graceMillis`.
     */
    readonly payOffer: (ask: OfferAsk) => Effect.Effect<OfferPayment | NotSent>
    /** The state of an attempt. A look-up changes nothing. `notFound`: the node has no record of it, which is no failure as long as a call may still be on its way. */
    readonly lookupOffer: (attempt: string) => Effect.Effect<OfferPayment | { readonly _tag: "notFound" }>
    /** Each attempt as it ends, from the subscription on, well or not. A hint of when to look: it may lose one or repeat one. Empty for a node that cannot notify. */
    readonly ends: Stream.Stream<string, NodeUnavailable>
    /** The best way to the offer's issuer that is known now, within `feeLimit`; undefined where there is none. Asks nobody, and sends nothing. */
    readonly quote: (ask: Omit<OfferAsk, "attempt">) => Effect.Effect<Quote | undefined, NodeUnavailable>
  }
>()("@satrail/core/nodes/OfferSender") {}

/** The node's way to pay offers; undefined where it has none. */
export const available: Effect.Effect<OfferSender["Service"] | undefined> = Effect.map(
  Effect.serviceOption(OfferSender),
  Option.getOrUndefined
)
