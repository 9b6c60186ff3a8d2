import { isBolt12 } from "@satrail/bitcoin/Bolt12"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Metadata from "../base/Metadata.ts"
import * as Change from "../ledger/Change.ts"
import * as Noun from "../ledger/Noun.ts"
import { type Written, written } from "../ledger/Written.ts"
import * as Deposit from "./Deposit.ts"
import * as LightningAddress from "./LightningAddress.ts"
import * as Purpose from "./Purpose.ts"
import * as Rated from "../base/Rated.ts"

/**
 * Stored status of an invoice. `pending`: can be paid. `claimed`: is being paid internally by one withdrawal.
 * `settled`: final. `held`: the node holds a payment for a hold invoice, until the company settles or cancels
 * the invoice. `settling`: the company settled it, and the node may not have been notified yet. `expired`: no
 * longer polled. A late payment still settles it. `canceling`: canceled by the company, and the node may not
 * have been notified yet. `canceled`: the node accepts no payment for it. In both statuses, a payment that was
 * in flight still settles the invoice.
 */
export const Status = Schema.Literals([
  "pending",
  "claimed",
  "held",
  "settling",
  "settled",
  "expired",
  "canceling",
  "canceled"
])
export type Status = typeof Status.Type

/** Limits and default of an invoice's lifetime, in seconds. */
export const expirySeconds = { minimum: 60, default: 3600, maximum: 31_536_000 } as const

/**
 * A wallet's request to a Lightning address, exactly as received: the data hashed into the invoice, and the
 * payer data.
 */
export const Callback = Schema.Struct({
  /** The address's metadata (LUD-06), byte for byte as the wallet received it. */
  metadata: Schema.String,
  /** The payer's details as JSON, exactly as the payer sent them (LUD-18). */
  payerData: Schema.NullOr(Schema.String),
  comment: Schema.NullOr(Schema.String),
  /** The signed request for a public receipt (NIP-57), as JSON. */
  zapRequest: Schema.NullOr(Schema.String)
})
export interface Callback extends Schema.Schema.Type<typeof Callback> {}

/**
 * The party that knows the preimage of a hold invoice: the node that generated the preimage, or the company
 * that supplied its hash.
 */
export const Holder = Schema.Literals(["node", "company"])

/**
 * An invoice. `amount` is the amount requested in msat, or null if the payer chooses. `received` is the amount
 * received, which is credited.
 */
export const Invoice = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  /** Public key of the issuing node. */
  nodeId: Schema.String,
  memo: Schema.String,
  amount: Schema.NullOr(Msat.Msat),
  /**
   * The range expected from a payer who chooses the amount; null if not set, or if the amount is fixed. BOLT
   * 11 has no field for it. Payments outside the range are still credited, because they cannot be sent back.
   */
  minAmount: Schema.NullOr(Msat.Msat),
  maxAmount: Schema.NullOr(Msat.Msat),
  paymentHash: PaymentHash.PaymentHash,
  paymentRequest: Schema.String,
  metadata: Metadata.Metadata,
  lightningAddressId: Schema.NullOr(Noun.Id),
  ...Purpose.members,
  /** The API key that created it; null if created by a payer's wallet, a checkout or the host program. */
  apiKeyId: Schema.NullOr(Schema.String),
  /** The wallet's request; null if the invoice was not requested at a Lightning address. */
  callback: Schema.NullOr(Callback),
  ...Rated.members,
  status: Status,
  received: Schema.NullOr(Msat.Msat),
  /** Set for a hold invoice, whose payment is held at the node until the company settles or cancels it. */
  hold: Schema.NullOr(Holder),
  /**
   * The amount held, as of when the payment was first noticed. The amount has no owner until the invoice is
   * settled, and then becomes `received`.
   */
  held: Schema.NullOr(Msat.Msat),
  /**
   * Time at which the held payment is returned unless it is settled first. An estimate, because the deadline is
   * a block height.
   */
  heldUntilMillis: Schema.NullOr(Schema.Int),
  /**
   * Stored only after the invoice is settled, or after the company settles its own hold invoice. Shown only
   * after the invoice is settled.
   */
  preimage: Schema.NullOr(Preimage.Preimage),
  /**
   * The withdrawal that is paying or has paid this invoice internally, or that released it. On a settled invoice, distinguishes
   * internal payments from external ones. Null again if an external payment arrived first.
   */
  claimedBy: Schema.NullOr(Noun.Id),
  createdAtMillis: Schema.Int,
  expiresAtMillis: Schema.Int,
  settledAtMillis: Schema.NullOr(Schema.Int),
  /**
   * Time at which the company canceled it. If set on a settled invoice, the invoice was paid despite the
   * cancellation.
   */
  canceledAtMillis: Schema.NullOr(Schema.Int)
})
export interface Invoice extends Schema.Schema.Type<typeof Invoice> {}

/** The members of an invoice that is not paid yet. */
export const unpaid = {
  status: "pending",
  received: null,
  hold: null,
  held: null,
  heldUntilMillis: null,
  preimage: null,
  claimedBy: null,
  settledAtMillis: null,
  canceledAtMillis: null
} as const

/**
 * Status of an invoice as shown to its company. `open`: can be paid. `accepted`: a payment is in flight or
 * held, and not yet credited. `settled`: final. `expired`: past its expiry, but a payment accepted in time may
 * still settle it. `canceled`: canceled by the company before the expiry, but a payment accepted before that
 * may still settle it.
 */
export const Standing = Schema.Literals(["open", "accepted", "settled", "expired", "canceled"])
export type Standing = typeof Standing.Type

/**
 * Returns an invoice's status at a point in time. An invoice that can be paid until 12:00 is `expired` from
 * 12:00 on, even if cleanup is still to be done.
 */
export const standing = (
  { status, expiresAtMillis }: Pick<Invoice, "status" | "expiresAtMillis">,
  atMillis: number
): Standing => {
  if (status === "settled") return "settled"
  if (status === "claimed" || status === "held" || status === "settling") return "accepted"
  if (status === "canceling" || status === "canceled") return "canceled"
  return status === "expired" || expiresAtMillis <= atMillis ? "expired" : "open"
}

/** An invoice as shown to its company at a point in time. */
export interface Shown extends Invoice {
  readonly standing: Standing
  /** The deposit that credited it; null until it is settled. */
  readonly depositId: string | null
}

export const shown = (invoice: Invoice, atMillis: number, depositId: string | null = null): Shown => ({
  ...invoice,
  standing: standing(invoice, atMillis),
  depositId
})

/**
 * Selects a company's invoices at a point in time. `createdAfterMillis` and `createdBeforeMillis` are both
 * exclusive.
 */
export interface Query {
  readonly atMillis: number
  readonly limit: number
  /** Exclusive start of the page: an invoice id. */
  readonly before: string | null
  readonly standing?: Standing
  readonly lightningAddressId?: string
  readonly label?: Metadata.Label
  readonly paymentHash?: PaymentHash.PaymentHash
  readonly createdAfterMillis?: number
  readonly createdBeforeMillis?: number
}

/** The invoice cannot be paid this way because its status is `status`. */
export class InvoiceNotPayable extends Schema.TaggedError<InvoiceNotPayable>()("InvoiceNotPayable", {
  invoiceId: Schema.String,
  status: Schema.String
}) {}

/** No payment is held for the invoice, so there is nothing to settle. Its status is `status`. */
export class InvoiceNotHeld extends Schema.TaggedError<InvoiceNotHeld>()("InvoiceNotHeld", {
  invoiceId: Schema.String,
  status: Standing
}) {}

/** The company already has `maximum` hold invoices that are not final. Each of them may hold a payment. */
export class TooManyHeld extends Schema.TaggedError<TooManyHeld>()("TooManyHeld", { maximum: Schema.Int }) {}

/** A payment is credited by its hash, so no two invoices may have the same hash. */
export const noun = Noun.make("invoices", Invoice, {
  moving: [
    "status",
    "received",
    "held",
    "heldUntilMillis",
    "preimage",
    "claimedBy",
    "settledAtMillis",
    "canceledAtMillis"
  ],
  unique: [["paymentHash"]],
  labels: "metadata",
  refused: (invoiceId, status) => new InvoiceNotPayable({ invoiceId, status })
})

/**
 * Transitions of an invoice. An unpaid invoice requested by a wallet may also be deleted; see
 * `InvoiceForgotten`.
 */
export const life = {
  claimed: Noun.move(noun, "claimed", {
    from: ["pending"],
    expects: ["claimedBy"],
    to: "claimed",
    sets: ["claimedBy"],
    again: { in: ["claimed"], same: ["claimedBy"] }
  }),
  // Has no effect on an invoice that has ended, or that another withdrawal has claimed since. `claimedBy` is kept, so
  // that an earlier claim that is committed again has no effect either.
  released: Noun.move(noun, "released", {
    from: ["claimed"],
    expects: ["claimedBy"],
    to: "pending",
    again: "otherwise"
  }),
  held: Noun.move(noun, "held", {
    from: ["pending"],
    to: "held",
    sets: ["held", "heldUntilMillis"],
    again: { in: ["held", "settling", "settled", "canceling", "canceled"] }
  }),
  // A held payment is either settled by the company or returned. Once an invoice is canceled, it can no longer
  // be settled, no matter who canceled it.
  settling: Noun.move(noun, "settling", {
    from: ["held"],
    to: "settling",
    sets: ["preimage"],
    again: { in: ["settling", "settled"] }
  }),
  returned: Noun.move(noun, "returned", {
    from: ["held", "settling"],
    to: "canceled",
    clears: ["preimage"],
    stamps: ["canceledAtMillis"],
    again: { in: ["pending", "claimed", "settled", "expired", "canceling", "canceled"] }
  }),
  // An invoice has one preimage. If an internally settled invoice is also paid by an external payment, the two
  // payments are distinct but have the same proof.
  settled: Noun.move(noun, "settled", {
    from: ["pending", "claimed", "held", "settling", "expired", "canceling", "canceled"],
    to: "settled",
    sets: ["received", "preimage"],
    clears: ["claimedBy"],
    stamps: ["settledAtMillis"],
    again: { in: ["settled"], same: ["received", "preimage", "claimedBy"] }
  }),
  // An invoice that another process has deleted counts as expired.
  expired: Noun.move(noun, "expired", {
    from: ["pending", "claimed"],
    to: "expired",
    again: { in: ["held", "settling", "settled", "expired", "canceling", "canceled"] },
    isDoneWhenGone: true
  }),
  canceled: Noun.move(noun, "canceled", {
    from: ["pending", "held"],
    to: "canceling",
    stamps: ["canceledAtMillis"],
    again: { in: ["canceling", "canceled"] }
  }),
  // An invoice that is no longer `canceling` does not need to be closed, because a payment may have come first.
  closed: Noun.move(noun, "closed", {
    from: ["canceling"],
    to: "canceled",
    again: { in: ["pending", "claimed", "held", "settling", "settled", "expired", "canceled"] }
  })
}

const addressUsed = Noun.touch(LightningAddress.noun, ["lastUsedAtMillis", "updatedAtMillis"])

export interface InvoiceCreated extends Written<
  "InvoiceCreated",
  readonly [Noun.InsertOf<typeof noun>],
  "once"
> {}
/**
 * Applies from any status but `settled`. If the invoice is already settled, the Change succeeds for the same
 * payment and is rejected for another one.
 */
export interface InvoiceSettled extends Written<
  "InvoiceSettled",
  readonly [Noun.TransitionOf<typeof life.settled>, Noun.InsertOf<typeof Deposit.noun>, Noun.Touch],
  "credit" | "fence"
> {}
/** Applies from `pending`, or from `claimed` by the same withdrawal. Refused once it has been released. */
export interface InvoiceClaimed extends Written<
  "InvoiceClaimed",
  readonly [Noun.TransitionOf<typeof life.claimed>],
  "fence"
> {}
/** Applies from `claimed` by the same withdrawal, and otherwise changes nothing. */
export interface InvoiceReleased extends Written<
  "InvoiceReleased",
  readonly [Noun.TransitionOf<typeof life.released>],
  "fence"
> {}
/** Applies from `pending` when a payment is held. An invoice that is already held or final stays as it is. */
export interface InvoiceHeld extends Written<"InvoiceHeld", readonly [Noun.TransitionOf<typeof life.held>]> {}
/** Applies from `held`. Rejected if the invoice is canceled or not held yet. */
export interface InvoiceSettling extends Written<
  "InvoiceSettling",
  readonly [Noun.TransitionOf<typeof life.settling>]
> {}
/** Applies from `held` and `settling`; a settled invoice stays settled. */
export interface InvoiceReturned extends Written<
  "InvoiceReturned",
  readonly [Noun.TransitionOf<typeof life.returned>]
> {}
/** Applies from `pending` and `claimed`; a settled or canceled invoice stays as it is. */
export interface InvoiceExpired extends Written<
  "InvoiceExpired",
  readonly [Noun.TransitionOf<typeof life.expired>]
> {}
/**
 * Applies from `pending` and `held`. Rejected if the invoice is being paid internally, being settled, settled
 * or expired.
 */
export interface InvoiceCanceled extends Written<
  "InvoiceCanceled",
  readonly [Noun.TransitionOf<typeof life.canceled>]
> {}
/** Applies from `canceling`; a settled invoice stays settled. */
export interface InvoiceClosed extends Written<
  "InvoiceClosed",
  readonly [Noun.TransitionOf<typeof life.closed>]
> {}
/** Completes the job that cancels an invoice, because the invoice can no longer be paid. */
export interface CancellationEnded extends Written<"CancellationEnded", readonly [], "fence"> {}
/**
 * Applies from `pending` and `expired`, and deletes the invoice. Rejected if the invoice is claimed or settled.
 */
export interface InvoiceForgotten extends Change.Parts<"InvoiceForgotten", InvoiceNotPayable> {}

/**
 * A payment received by the node for no open invoice, such as a second payment of the same invoice.
 */
export const Unmatched = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  paymentHash: PaymentHash.PaymentHash,
  received: Msat.Msat,
  reason: Schema.String,
  /** When the payment was first noticed. */
  createdAtMillis: Schema.Int
})
export interface Unmatched extends Schema.Schema.Type<typeof Unmatched> {}

export const unmatchedNoun = Noun.make("unmatched", Unmatched, { moving: ["createdAtMillis"] })
export interface PaymentUnmatched extends Written<
  "PaymentUnmatched",
  readonly [Noun.InsertOf<typeof unmatchedNoun>],
  "credit" | "fence"
> {}

/** Kind of the job that manages a hold invoice at the node, from its creation to its end. */
export const holdTask = "hold"
/** Age of an invoice at its first lookup. */
const firstLookMillis = 1000

/** Enqueues the job of a hold invoice. */
const begins = ({ id, hold, createdAtMillis }: Invoice): ReadonlyArray<Change.Job> =>
  hold === null
    ? []
    : [Change.enqueue({ kind: holdTask, id, dueAtMillis: createdAtMillis + firstLookMillis })]

/** Completes the job of a hold invoice, in the Change that makes the invoice final. */
export const ends = ({ id, hold }: Pick<Invoice, "id" | "hold">): ReadonlyArray<Change.Job> =>
  hold === null ? [] : [Change.complete(id)]

/** Kind of the job that cancels an invoice at the node, from the decision to cancel it until the node confirms. */
export const cancelTask = "invoice_cancel"
/** Gives the process that decided enough time to cancel the invoice at the node itself. */
const cancelsAfterMillis = 2000

/** Enqueues the job that cancels an invoice that is not a hold invoice, whose own job also does that. */
export const cancels = (id: string, atMillis: number): Change.Enqueue =>
  Change.enqueue({ kind: cancelTask, id, dueAtMillis: atMillis + cancelsAfterMillis })

/**
 * Returns whether the company created the invoice, or created the checkout for which a payer requested it. Its
 * event is published before payment. Other invoices can be created by anyone in any number, with a wallet's
 * request or from an offer.
 */
const isOwn = ({ callback, paymentRequest }: Invoice): boolean =>
  callback === null && !isBolt12(paymentRequest)

/**
 * Records an invoice that can be paid. No money moves. An invoice that is not the company's own is published
 * only after it is paid.
 */
export const created = (invoice: Invoice, once?: Change.Once): InvoiceCreated =>
  written("InvoiceCreated", invoice.createdAtMillis, [Noun.insert(noun, invoice)], {
    jobs: begins(invoice),
    ...(isOwn(invoice) && { event: { type: "invoice.created", subject: invoice.id } }),
    ...(once && { once })
  })

/**
 * Settles the invoice and credits `deposit.amount`, which may exceed the requested amount. If 1000 was
 * requested and 1010 received, 1010 is credited.
 */
export const settled = (
  { id, lightningAddressId }: Pick<Invoice, "id" | "lightningAddressId">,
  deposit: Deposit.Deposit,
  preimage: Invoice["preimage"] & string,
  { cursor, fence }: Partial<Change.Reading> = {}
): InvoiceSettled => ({
  _tag: "InvoiceSettled",
  id,
  companyId: deposit.companyId,
  atMillis: deposit.createdAtMillis,
  transferId: deposit.ledgerTxId,
  legs: [
    { companyId: deposit.companyId, postings: [{ from: "node", to: "available", amount: deposit.amount }] }
  ],
  writes: [
    Noun.step(life.settled, { id, companyId: deposit.companyId }, { received: deposit.amount, preimage }),
    Noun.insert(Deposit.noun, deposit),
    addressUsed(deposit.companyId, lightningAddressId)
  ],
  event: { type: "invoice.settled", subject: id },
  ...(cursor && { cursor }),
  ...(fence && { fence })
})

/**
 * Reserves the invoice for one withdrawal, before the node is asked to cancel it. From then on, only that
 * withdrawal may pay it.
 */
export const claimed = (
  invoice: Invoice,
  withdrawalId: string,
  fence: Change.Fence,
  atMillis: number
): InvoiceClaimed =>
  written("InvoiceClaimed", atMillis, [Noun.step(life.claimed, invoice, { claimedBy: withdrawalId })], {
    fence
  })

/**
 * Makes an invoice payable again before this withdrawal fails, if it claimed the invoice. The node may have canceled the
 * invoice, so only an internal payment is certain to be able to pay it.
 */
export const released = (
  invoice: Invoice,
  withdrawalId: string,
  fence: Change.Fence,
  atMillis: number
): InvoiceReleased =>
  written(
    "InvoiceReleased",
    atMillis,
    [Noun.step(life.released, { ...invoice, claimedBy: withdrawalId }, {})],
    { fence }
  )

/** Records that the node holds `held` msat for the invoice until about `heldUntilMillis`. No money moves. */
export const held = (
  invoice: Invoice,
  payment: { readonly held: Msat.Msat; readonly heldUntilMillis: number },
  atMillis: number
): InvoiceHeld =>
  written("InvoiceHeld", atMillis, [Noun.step(life.held, invoice, payment)], {
    event: { type: "invoice.held", subject: invoice.id }
  })

/**
 * Records the company's decision to take the held payment, with the preimage if the company supplied it. The
 * node is notified next. No money moves until the node confirms the settlement.
 */
export const settling = (
  invoice: Invoice,
  preimage: Invoice["preimage"],
  atMillis: number
): InvoiceSettling => written("InvoiceSettling", atMillis, [Noun.step(life.settling, invoice, { preimage })])

/** Records that the held payment was returned and the node accepts no further payment. */
export const returned = (invoice: Invoice, atMillis: number): InvoiceReturned =>
  written("InvoiceReturned", atMillis, [Noun.step(life.returned, invoice, {})], {
    jobs: ends(invoice),
    event: { type: "invoice.canceled", subject: invoice.id }
  })

/** Expires an invoice that was not paid before its expiry or in the grace period after it. */
export const expired = (invoice: Invoice, atMillis: number): InvoiceExpired =>
  written("InvoiceExpired", atMillis, [Noun.step(life.expired, invoice, {})], {
    jobs: ends(invoice),
    event: { type: "invoice.expired", subject: invoice.id }
  })

/**
 * Cancels an invoice for its company. From then on it cannot be settled internally. The node is notified next.
 * `jobs` are enqueued in the same commit.
 */
export const canceled = (
  invoice: Invoice,
  atMillis: number,
  jobs: ReadonlyArray<Change.Job> = []
): InvoiceCanceled =>
  written("InvoiceCanceled", atMillis, [Noun.step(life.canceled, invoice, {})], {
    jobs: [...jobs, ...(invoice.hold === null ? [cancels(invoice.id, atMillis)] : [])],
    event: { type: "invoice.canceled", subject: invoice.id }
  })

/** Closes a canceled invoice, once the node accepts no payment for it, or after its expiry. */
export const closed = (invoice: Invoice, atMillis: number): InvoiceClosed =>
  written("InvoiceClosed", atMillis, [Noun.step(life.closed, invoice, {})], {
    jobs: [Change.complete(invoice.id)]
  })

export const cancellationEnded = (
  invoice: Invoice,
  fence: Change.Fence,
  atMillis: number
): CancellationEnded => ({
  _tag: "CancellationEnded",
  ...Change.on(invoice, atMillis),
  writes: [],
  fence,
  jobs: [Change.complete(invoice.id)]
})

/** Deletes an unpaid invoice that a wallet requested. The node no longer accepts payments for it. */
export const forgotten = (invoice: Invoice, atMillis: number): InvoiceForgotten => ({
  _tag: "InvoiceForgotten",
  ...Change.on(invoice, atMillis)
})

/** Puts a payment received by the node in `suspense` for an operator, because its owner is unknown. */
export const unmatched = (
  unmatched: Unmatched,
  { cursor, fence }: Partial<Change.Reading> = {}
): PaymentUnmatched => ({
  _tag: "PaymentUnmatched",
  id: unmatched.id,
  companyId: unmatched.companyId,
  atMillis: unmatched.createdAtMillis,
  transferId: unmatched.id,
  legs: [
    {
      companyId: unmatched.companyId,
      postings: [{ from: "node", to: "suspense", amount: unmatched.received }]
    }
  ],
  writes: [Noun.insert(unmatchedNoun, unmatched)],
  event: { type: "payment.unmatched", subject: unmatched.id },
  ...(cursor && { cursor }),
  ...(fence && { fence })
})
