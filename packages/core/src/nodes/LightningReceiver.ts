import type { Msat } from "@satrail/bitcoin/Msat"
import type { Network } from "@satrail/bitcoin/Network"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as Preimage from "@satrail/bitcoin/Preimage"
import { Context, type Effect, type Redacted, Schema, type Stream } from "effect"
import * as Outage from "../base/Outage.ts"

/** A node could not be reached, did not answer in time, or is not ready. What was asked of it may or may not have happened. */
export class NodeUnavailable extends Schema.TaggedError<NodeUnavailable>()("NodeUnavailable", {
  operation: Schema.String,
  cause: Schema.Defect(),
  ...Outage.words
}) {}

/** What an invoice is for: a text in it, or the hash of one that the payer was shown (BOLT 11, `d` and `h`; LUD-06). */
export type Description = { readonly _tag: "Text"; readonly text: string } | { readonly _tag: "Hash"; readonly sha256: string }

export interface Ask {
  /** Our id of the invoice. The same id asked again is the same invoice, with the same payment hash. */
  readonly id: string
  /** Null: the payer decides (BOLT 11 without an amount). */
  readonly amount: Msat | null
  readonly description: Description
  readonly expirySeconds: number
}

export interface Issued {
  readonly paymentHash: PaymentHash.PaymentHash
  readonly paymentRequest: string
}

/** A payment that waits at the node for a word of ours, and after how many blocks its HTLCs end without one. */
export interface Held {
  readonly received: Msat
  readonly blocksLeft: number
}

/** Where an invoice stands at the node. `accepted`: a payment is held and may still settle; `held` is there of a hold invoice. It is money only when `settled`. */
export type InvoiceState =
  | { readonly _tag: "open" }
  | { readonly _tag: "accepted"; readonly held?: Held }
  | { readonly _tag: "canceled" }
  | { readonly _tag: "settled"; readonly received: Msat; readonly preimage: Preimage.Preimage }
  | { readonly _tag: "unknown" }

/** What a hold invoice is asked with: without a hash its preimage is the node's own, and nobody else has it. */
export interface HoldAsk extends Ask {
  readonly paymentHash?: PaymentHash.PaymentHash | undefined
}

/** An issued hold invoice. */
export type Hold = Pick<Ask, "id"> & Pick<Issued, "paymentHash">

/** The node has an invoice with this payment hash, of whomever. */
export class PaymentHashTaken extends Schema.TaggedError<PaymentHashTaken>()("PaymentHashTaken", { paymentHash: Schema.String }) {}

/** What a node can do that holds payments: of such an invoice it takes none for itself, until it is told to. */
export interface Holding {
  /**
   * A hold invoice. The same id asked again is the same invoice, and never one that settles by itself. One with a given hash is made once: whose it is that is there
   * cannot be told from it.
   */
  readonly createInvoice: (ask: HoldAsk) => Effect.Effect<Issued, NodeUnavailable | PaymentHashTaken>
  /** Takes what is held, with the preimage of a given hash. `settled`, now or before; `canceled`: it is too late; `open`: nothing is held yet, and nothing was done. */
  readonly settle: (invoice: Hold, preimage: Preimage.Preimage | null) => Effect.Effect<"settled" | "canceled" | "open", NodeUnavailable>
  /** Sends back what is held, and takes no payment from here on: `canceled`, now or before. `settled`: it is too late. */
  readonly cancel: (invoice: Hold) => Effect.Effect<"settled" | "canceled", NodeUnavailable>
}

/** An invoice was paid. `received` may be more than was asked: asked 1000, received 1010, and 1010 are credited. */
export interface Settled {
  readonly paymentHash: PaymentHash.PaymentHash
  readonly received: Msat
  readonly preimage: Preimage.Preimage
  readonly settledAtMillis: number
  /** Our id of the offer (`OfferIssuer`) for which the node made the invoice by itself. */
  readonly offerId?: string
  /** To be stored with the credit: the stream resumes right after it. */
  readonly cursor: string
}

/**
 * What a node cannot do, and is used without. `cancel`: it cannot close an invoice before its end, so that an invoice of ours is paid over the network or not at all,
 * never inside the ledger. `millisatoshis`: it knows whole satoshis; a payer who wants to send a fraction of one is refused.
 */
export type Lacking = "cancel" | "millisatoshis"

/** A node that takes payments for us. */
export class LightningReceiver extends Context.Service<
  LightningReceiver,
  {
    /** The node's public key, 33 bytes in hex. */
    readonly nodeId: string
    readonly network: Network
    /** What this node cannot do; nothing, where it is absent. What is asked of it all the same fails. */
    readonly lacks?: ReadonlySet<Lacking>
    readonly createInvoice: (ask: Ask) => Effect.Effect<Issued, NodeUnavailable>
    /** Absent of a node that holds no payments. */
    readonly holding?: Holding
    readonly lookupInvoice: (paymentHash: PaymentHash.PaymentHash) => Effect.Effect<InvoiceState, NodeUnavailable>
    /**
     * No payment of this invoice is accepted from here on: `canceled`, now or before, with the preimage, which is safe to reveal from then on.
     * Or it is too late, and one is `accepted` or `settled`. Asking again answers the same.
     * Nodes do not give the preimage of a canceled invoice away: a backend derives it from our id and a secret of its own, or keeps it.
     */
    readonly cancelInvoice: (
      paymentHash: PaymentHash.PaymentHash
    ) => Effect.Effect<
      | { readonly _tag: "canceled"; readonly preimage: Redacted.Redacted<Preimage.Preimage> }
      | { readonly _tag: "accepted" }
      | { readonly _tag: "settled" },
      NodeUnavailable
    >
    /** Every invoice settled after the one with cursor `after` (null: from the first), and then each as it settles, in order. A hint: it may lose one, so open invoices are looked up as well. */
    readonly settlements: (after: string | null) => Stream.Stream<Settled, NodeUnavailable>
  }
>()("@satrail/core/nodes/LightningReceiver") {}
