import type { Bolt12 } from "@satrail/bitcoin/Bolt12"
import type { Msat } from "@satrail/bitcoin/Msat"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Context, Effect, Option, type Stream } from "effect"
import type { NodeUnavailable } from "./LightningReceiver.ts"
import type { NotFound, NotSent, Payment, Quote } from "./LightningSender.ts"

/**
 * The state of a payment to an offer: a `Payment`, with the payment hash when settled. The offer's issuer
 * chose the hash. Its preimage proves the payment, but the hash does not identify it, because the issuer can
 * choose any hash.
 */
export type OfferPayment =
  | (Extract<Payment, { readonly _tag: "settled" }> & { readonly paymentHash: PaymentHash.PaymentHash })
  | Exclude<Payment, { readonly _tag: "settled" }>

/**
 * A payment to send. `attempt` is our UUID, stored before the node is called. The node stores the payment under
 * this id. `amount` is for one item and at least the offer's amount. At most `feeLimit` is added for routing.
 */
export interface OfferAsk {
  readonly attempt: string
  readonly offer: Bolt12
  readonly amount: Msat
  readonly feeLimit: Msat
}

/**
 * A node that pays offers (BOLT 12) for the service. A node that cannot pay offers has no such layer, and
 * offers are then not accepted.
 */
export class OfferSender extends Context.Service<
  OfferSender,
  {
    /**
     * Time for which a call to `payOffer` may still reach the node after it was made, or after our process
     * died. The call is never sent later.
     */
    readonly graceMillis: number
    /**
     * Requests one invoice of `amount` from the offer's issuer, and pays it plus at most `feeLimit`. It never
     * pays an invoice of a different amount. Never fails; if the result is not known, it returns `unknown`.
     * Returns within seconds: slower payments are `pending`, including those that still wait for the issuer's
     * response. A payment is `failed` if the node rejects it before trying, or if the issuer refuses or never
     * responds. An attempt requests only one invoice and is paid at most once, regardless of the number of
     * calls and callers. A failed attempt stays failed. After `notSent`, retry immediately. After `unknown`,
     * wait `graceMillis` before retrying.
     */
    readonly payOffer: (ask: OfferAsk) => Effect.Effect<OfferPayment | NotSent>
    /**
     * Returns the state of an attempt without changing anything. `notFound`: the node has no record of it,
     * which is not a failure while a call may still arrive.
     */
    readonly lookupOffer: (attempt: string) => Effect.Effect<OfferPayment | NotFound>
    /**
     * Streams each attempt when it becomes final, whether it succeeded or failed, starting at the subscription.
     * The stream is only a hint and may miss or repeat an attempt. Empty if the node has no notifications.
     */
    readonly ends: Stream.Stream<string, NodeUnavailable>
    /**
     * Returns the best known route to the offer's issuer within `feeLimit`; undefined if there is none.
     * Makes no request and sends nothing.
     */
    readonly quote: (ask: Omit<OfferAsk, "attempt">) => Effect.Effect<Quote | undefined, NodeUnavailable>
  }
>()("@satrail/core/nodes/OfferSender") {}

/** The node's offer sender; undefined if it has none. */
export const available: Effect.Effect<OfferSender["Service"] | undefined> = Effect.map(
  Effect.serviceOption(OfferSender),
  Option.getOrUndefined
)
