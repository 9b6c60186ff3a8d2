import type { Msat } from "@satrail/bitcoin/Msat"
import type { Network } from "@satrail/bitcoin/Network"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as Preimage from "@satrail/bitcoin/Preimage"
import { Context, type Effect, type Option, type Redacted, Schema, type Stream } from "effect"
import * as Outage from "../base/Outage.ts"
import type { Progress } from "./Behind.ts"

/** The node is unreachable, timed out or is not ready. The request may or may not have taken effect. */
export class NodeUnavailable extends Schema.TaggedError<NodeUnavailable>()("NodeUnavailable", {
  operation: Schema.String,
  cause: Schema.Defect(),
  ...Outage.words
}) {}

/**
 * Description of an invoice: a text that it contains, or the hash of a text shown to the payer (BOLT 11, `d`
 * and `h`; LUD-06).
 */
export type Description =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Hash"; readonly sha256: string }

export interface Ask {
  /** Our id of the invoice. Repeating an id returns the same invoice with the same payment hash. */
  readonly id: string
  /** null lets the payer choose (BOLT 11 without an amount). */
  readonly amount: Msat | null
  readonly description: Description
  readonly expirySeconds: number
}

export interface Issued {
  readonly paymentHash: PaymentHash.PaymentHash
  readonly paymentRequest: string
}

/**
 * A payment held by the node until we settle or cancel it, and the number of blocks until its HTLCs expire.
 */
export interface Held {
  readonly received: Msat
  readonly blocksLeft: number
}

/**
 * Status of an invoice at the node. `accepted`: a payment is held and may still settle; `held` is present for
 * hold invoices. Only `settled` means that money was received.
 */
export type InvoiceState =
  | { readonly _tag: "open" }
  | { readonly _tag: "accepted"; readonly held?: Held }
  | { readonly _tag: "canceled" }
  | { readonly _tag: "settled"; readonly received: Msat; readonly preimage: Preimage.Preimage }
  | { readonly _tag: "unknown" }

/**
 * Request for a hold invoice. Without a hash, the node chooses the preimage and is the only one to know it.
 */
export interface HoldAsk extends Ask {
  readonly paymentHash?: PaymentHash.PaymentHash | undefined
}

/** An issued hold invoice. */
export type Hold = Pick<Ask, "id"> & Pick<Issued, "paymentHash">

/** The node already has an invoice with this payment hash, from any source. */
export class PaymentHashTaken extends Schema.TaggedError<PaymentHashTaken>()("PaymentHashTaken", {
  paymentHash: Schema.String
}) {}

/** Hold invoices of a node that supports them. A payment stays held until it is settled or canceled. */
export interface Holding {
  /**
   * Creates a hold invoice, which never settles by itself. Repeating an id returns the same invoice. If the
   * hash is given, only the first call creates the invoice, because the owner of an existing invoice cannot be
   * determined.
   */
  readonly createInvoice: (ask: HoldAsk) => Effect.Effect<Issued, NodeUnavailable | PaymentHashTaken>
  /**
   * Settles a held payment, with the preimage if the hash was given. Returns `settled` if the payment settled
   * now or earlier, `canceled` if it is too late, and `open` if nothing is held yet, in which case nothing was
   * done. Never settles a payment that the payer may have taken back on the chain, for example while the node was
   * down. The node then returns it.
   */
  readonly settle: (
    invoice: Hold,
    preimage: Preimage.Preimage | null
  ) => Effect.Effect<"settled" | "canceled" | "open", NodeUnavailable>
  /**
   * Cancels a hold invoice: returns held payments and accepts no more. Returns `canceled` if the invoice was
   * canceled now or earlier, and `settled` if it is too late.
   */
  readonly cancel: (invoice: Hold) => Effect.Effect<"settled" | "canceled", NodeUnavailable>
}

/**
 * A paid invoice. `received` may exceed the invoice's amount. If 1010 are received for 1000, 1010 are
 * credited.
 */
export interface Settled {
  readonly paymentHash: PaymentHash.PaymentHash
  readonly received: Msat
  readonly preimage: Preimage.Preimage
  readonly settledAtMillis: number
  /** Our id of the offer (`OfferIssuer`) for which the node created the invoice. */
  readonly offerId?: string
  /** Stored with the credit. The stream resumes right after this cursor. */
  readonly cursor: string
}

/**
 * Features a node lacks. `cancel`: it can't cancel an open invoice, so our invoices are never settled
 * internally, only over the network. `millisatoshis`: it only supports whole satoshis, so payments of
 * fractional amounts are rejected.
 */
export type Lacking = "cancel" | "millisatoshis"

/** A node that receives payments for the service. */
export class LightningReceiver extends Context.Service<
  LightningReceiver,
  {
    /** The node's public key, 33 bytes in hex. */
    readonly nodeId: string
    readonly network: Network
    /** Features this node lacks; none if absent. Requests for them fail. */
    readonly lacks?: ReadonlySet<Lacking>
    /** Returns how far the node has read the chain; none if it does not report it. Absent if it never does. */
    readonly progress?: Effect.Effect<Option.Option<Progress>, NodeUnavailable>
    readonly createInvoice: (ask: Ask) => Effect.Effect<Issued, NodeUnavailable>
    /** Absent if the node does not support hold invoices. */
    readonly holding?: Holding
    readonly lookupInvoice: (
      paymentHash: PaymentHash.PaymentHash
    ) => Effect.Effect<InvoiceState, NodeUnavailable>
    /**
     * Cancels an invoice, so that it accepts no more payments. Returns `canceled` if the invoice was canceled
     * now or earlier, with the preimage, which is then safe to reveal. If it is too late, returns `accepted` or
     * `settled`. Repeated calls return the same result. Nodes do not return the preimage of a canceled invoice,
     * so a backend stores it or derives it from our id and a secret.
     */
    readonly cancelInvoice: (
      paymentHash: PaymentHash.PaymentHash
    ) => Effect.Effect<
      | { readonly _tag: "canceled"; readonly preimage: Redacted.Redacted<Preimage.Preimage> }
      | { readonly _tag: "accepted" }
      | { readonly _tag: "settled" },
      NodeUnavailable
    >
    /**
     * Streams every invoice settled after cursor `after` (null: from the first), and then each as it settles,
     * in order. The stream is only a hint and may miss an invoice, so open invoices are polled too.
     */
    readonly settlements: (after: string | null) => Stream.Stream<Settled, NodeUnavailable>
  }
>()("@satrail/core/nodes/LightningReceiver") {}
