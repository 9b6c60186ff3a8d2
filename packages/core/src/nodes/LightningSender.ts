import type { Bolt11 } from "@satrail/bitcoin/Bolt11"
import type { Msat } from "@satrail/bitcoin/Msat"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as Preimage from "@satrail/bitcoin/Preimage"
import { Context, type Effect, type Stream } from "effect"
import type { NodeUnavailable } from "./LightningReceiver.ts"

/** Reasons for the final failure of a payment. */
export type FailureReason =
  | "timeout"
  | "no_route"
  | "error"
  | "incorrect_payment_details"
  | "insufficient_balance"
  | "canceled"
  /** A channel was closed with the payment in flight, and the funds returned on-chain. */
  | "channel_closed"

/**
 * The state of a payment. Only `settled` and `failed` are the node's final results for a completed attempt, and
 * only `failed` releases the hold. `unknown` is not a result: the payment may be in flight. `notFound`: the
 * node has no record of the payment. This is not a failure either, as long as a call to send the payment may
 * still arrive. `expiryHeight` is the block height of the last time lock of all HTLCs that the node ever offered for
 * the payment. Set only if the node can lose the result of a payment, and no HTLC of this one was claimed.
 */
export type Payment =
  | {
      readonly _tag: "settled"
      readonly preimage: Preimage.Preimage
      readonly fee: Msat
      readonly index: string | null
    }
  | { readonly _tag: "failed"; readonly reason: FailureReason }
  | { readonly _tag: "pending"; readonly expiryHeight?: number }
  | { readonly _tag: "unknown" }

/**
 * The call to pay did not reach the node and never will. There was no connection, or the node rejected the call
 * before processing the payment because it is locked, is starting, or rejects our credentials. This says
 * nothing about earlier calls. If the request may have been written, the result is `unknown`.
 */
export interface NotSent {
  readonly _tag: "notSent"
}

/**
 * The node has no record of the payment. `lostBeforeMillis` is set by a node that lost its records and knows it:
 * it may have sent payments before this time that it has no record of.
 */
export interface NotFound {
  readonly _tag: "notFound"
  readonly lostBeforeMillis?: number
}

/** The current cost of a route, and its probability of success from 0 to 1. */
export interface Quote {
  readonly fee: Msat
  readonly probability: number
}

/**
 * A payment to send. `amount` is the invoice's amount if it has one. At most `feeLimit` is added for routing.
 */
export interface Ask {
  readonly invoice: Bolt11
  readonly amount: Msat
  readonly feeLimit: Msat
}

/**
 * Features a node lacks. `fee_limit`: it has a fixed tariff and accepts no limit, so its adapter rejects
 * payments above the limit before sending (`failed`, `no_route`; the node has no record of them). `reason`:
 * it stores no failure reason, so the reason is always `error`.
 */
export type Lacking = "fee_limit" | "reason"

/**
 * The maximum fee a node charges for a payment: `base` plus `partsPerMillion` of the amount, rounded up to a
 * whole msat.
 */
export interface Tariff {
  readonly base: Msat
  readonly partsPerMillion: bigint
}

/** A node that sends payments for the service. */
export class LightningSender extends Context.Service<
  LightningSender,
  {
    /** Features this node lacks; none if absent. */
    readonly lacks?: ReadonlySet<Lacking>
    /**
     * For a node that lacks `fee_limit`: the fee held for a payment in place of the routing allowance, which
     * may be too small for the tariff.
     */
    readonly tariff?: Tariff
    /**
     * Time for which a call to `pay` may still reach the node after it was made, or after our process died. The
     * call is never sent later.
     */
    readonly graceMillis: number
    /**
     * Pays `invoice` with `amount` (the invoice's amount, if it has one) plus at most `feeLimit`. Never
     * fails; if the result is not known, it returns `unknown`. Returns within seconds: slower payments are
     * `pending`. Payments that the node rejects before trying (an expired invoice, its own invoice) are
     * `failed`. A payment hash is paid at most once while it is pending or settled, regardless of the number
     * of calls and callers. After `notSent`, retry immediately. After `unknown`, wait `graceMillis` before
     * retrying.
     */
    readonly pay: (ask: Ask) => Effect.Effect<Payment | NotSent>
    /** Returns the state of a payment without changing anything. */
    readonly lookupPayment: (paymentHash: PaymentHash.PaymentHash) => Effect.Effect<Payment | NotFound>
    /**
     * Streams the payment hash of each of this node's payments when the payment becomes final, whether it
     * succeeded or failed, starting at the subscription. The stream is only a hint and may miss or repeat a
     * payment, so payments are polled too. Empty if the node has no notifications.
     */
    readonly ends: Stream.Stream<PaymentHash.PaymentHash, NodeUnavailable>
    /** Returns the best current route within `feeLimit`; undefined if there is none. Sends nothing. */
    readonly quote: (ask: Ask) => Effect.Effect<Quote | undefined, NodeUnavailable>
  }
>()("@satrail/core/nodes/LightningSender") {}
