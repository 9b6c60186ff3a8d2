import type { Bolt11 } from "@satrail/bitcoin/Bolt11"
import type { Msat } from "@satrail/bitcoin/Msat"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as Preimage from "@satrail/bitcoin/Preimage"
import { Context, type Effect, type Stream } from "effect"
import type { NodeUnavailable } from "./LightningReceiver.ts"

/** Why a payment failed for good. */
export type FailureReason =
  | "timeout"
  | "no_route"
  | "error"
  | "incorrect_payment_details"
  | "insufficient_balance"
  | "canceled"
  /** A channel was closed with the payment inside, and the payment came back over the chain. */
  | "channel_closed"

/**
 * The state of a payment. Only `settled` and `failed` are the node's final result, of a finished attempt; `failed` alone releases money.
 * `unknown` is no answer: the payment may be under way. `notFound`: the node has no record of such a payment, which is
 * not a failure either, as long as a call to send it may still be on its way.
 */
export type Payment =
  | { readonly _tag: "settled"; readonly preimage: Preimage.Preimage; readonly fee: Msat; readonly index: string | null }
  | { readonly _tag: "failed"; readonly reason: FailureReason }
  | { readonly _tag: "pending" }
  | { readonly _tag: "unknown" }

/**
 * This call to pay has not reached the node, and never will: there was no connection to write to, or the node refused the call before it looked at the
 * payment (it is locked, or starts, or does not take our credentials). It says nothing about an earlier call. Where a request may have been written it is
 * `unknown`.
 */
export interface NotSent {
  readonly _tag: "notSent"
}

/** What a route would cost now, and how likely it is to work, 0 … 1. */
export interface Quote {
  readonly fee: Msat
  readonly probability: number
}

/** What is to be paid: `amount` is the invoice's own where it has one, and at most `feeLimit` goes to routing on top. */
export interface Ask {
  readonly invoice: Bolt11
  readonly amount: Msat
  readonly feeLimit: Msat
}

/**
 * What a node cannot do, and is used without. `fee_limit`: it takes no limit and has a tariff instead, so that its adapter refuses what would cost more than the limit
 * before it sends (`failed`, `no_route`; the node itself has no record of it). `reason`: it keeps no reason of a failure, which is then `error`.
 */
export type Lacking = "fee_limit" | "reason"

/** What a node takes at most for a payment: `base` plus `partsPerMillion` of the amount, rounded up to a whole msat. */
export interface Tariff {
  readonly base: Msat
  readonly partsPerMillion: bigint
}

/** A node that pays for us. */
export class LightningSender extends Context.Service<
  LightningSender,
  {
    /** What this node cannot do; nothing, where it is absent. */
    readonly lacks?: ReadonlySet<Lacking>
    /** Of a node that lacks `fee_limit`: what a payment holds for its fee, in place of the routing allowance, which could be too little to be sent at all. */
    readonly tariff?: Tariff
    /** How long after `pay` was asked, or our process died, a call may still reach the node. What is later than that is never sent. */
    readonly graceMillis: number
    /**
     * Pays `invoice` with `amount` (its own, where it has one) and at most `feeLimit` on top: never more. Never fails: not to know is an answer.
     * Answers within seconds: what takes longer is `pending`, and what the node refuses before it tries (an expired invoice, its own) is `failed`.
     * The same payment hash is paid at most once while it is pending or settled, however often and by however many it is asked.
     * What is `notSent` may be asked again at once; what is `unknown` only after `graceMillis`.
     */
    readonly pay: (ask: Ask) => Effect.Effect<Payment | NotSent>
    /** The state of a payment. A look-up changes nothing. */
    readonly lookupPayment: (paymentHash: PaymentHash.PaymentHash) => Effect.Effect<Payment | { readonly _tag: "notFound" }>
    /**
     * The payment hash of each payment of this node as it ends, from the subscription on, well or not. A hint of when to look: it may lose one or
     * repeat one, so payments are looked up as well. Empty for a node that cannot notify.
     */
    readonly ends: Stream.Stream<PaymentHash.PaymentHash, NodeUnavailable>
    /** The best route now, within `feeLimit`; undefined where there is none. Sends nothing. */
    readonly quote: (ask: Ask) => Effect.Effect<Quote | undefined, NodeUnavailable>
  }
>()("@satrail/core/nodes/LightningSender") {}
