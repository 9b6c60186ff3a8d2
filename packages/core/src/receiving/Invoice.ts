import { isBolt12 } from "@satrail/bitcoin/Bolt12"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Metadata from "../base/Metadata.ts"
import * as Change from "../ledger/Change.ts"
import * as Noun from "../ledger/Noun.ts"
import type { Written } from "../ledger/Written.ts"
import * as Deposit from "./Deposit.ts"
import * as LightningAddress from "./LightningAddress.ts"

/**
 * `pending` may be paid. `claimed` is being paid from inside, by one withdrawal. `settled` is final.
 * Of a hold invoice, `held`: the node has a payment that its company settles or cancels. `settling`: its company settled it, and the node may not have heard of it.
 * `expired` is no longer asked about; should it be paid all the same, it settles.
 * `canceling` was canceled by its company, and the node may not have heard of it; `canceled`: the node takes no payment for it. Both settle where one was on its way.
 */
export const Status = Schema.Literals(["pending", "claimed", "held", "settling", "settled", "expired", "canceling", "canceled"])
export type Status = typeof Status.Type

/** How long an invoice may be open, in seconds. */
export const expirySeconds = { minimum: 60, default: 3600, maximum: 31_536_000 } as const

/** The request of a wallet at a Lightning address, each part as received: what is hashed into the invoice, and the payer data. */
export const Callback = Schema.Struct({
  /** The metadata that the address was shown with (LUD-06), to the byte. */
  metadata: Schema.String,
  /** Who pays, as JSON, of the payer's own making (LUD-18). */
  payerData: Schema.NullOr(Schema.String),
  comment: Schema.NullOr(Schema.String),
  /** The signed request for a receipt that others can see (NIP-57), as JSON. */
  zapRequest: Schema.NullOr(Schema.String)
})
export interface Callback extends Schema.Schema.Type<typeof Callback> {}

/** Who has the preimage of a hold invoice: the node, which made it, or the company, which gave its hash. */
export const Holder = Schema.Literals(["node", "company"])

/** A request to be paid. `amount` is what the payer was asked for, null where the payer decides; what arrived is `received`, and that is credited. */
export const Invoice = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  /** The public key of the node that issued it. */
  nodeId: Schema.String,
  memo: Schema.String,
  amount: Schema.NullOr(Msat.Msat),
  /**
   * What the company expects of a payer who decides; null where it has said nothing, or an amount. No invoice can carry it (BOLT 11 has no place for it),
   * and what arrived outside of it is credited all the same: it is not ours to send back.
   */
  minAmount: Schema.NullOr(Msat.Msat),
  maxAmount: Schema.NullOr(Msat.Msat),
  paymentHash: PaymentHash.PaymentHash,
  paymentRequest: Schema.String,
  metadata: Metadata.Metadata,
  lightningAddressId: Schema.NullOr(Noun.Id),
  /** The checkout that it is one way to pay. */
  checkoutId: Schema.NullOr(Noun.Id),
  /** The API key that asked for it; null if a payer's wallet, a checkout or the host did. */
  apiKeyId: Schema.NullOr(Schema.String),
  /** Null where no wallet asked for it, but the company itself. */
  callback: Schema.NullOr(Callback),
  /** Fiat units for one bitcoin, when the amount was given in fiat. */
  rate: Schema.NullOr(Schema.String),
  /** When that was the rate. */
  rateAtMillis: Schema.NullOr(Schema.Int),
  status: Status,
  received: Schema.NullOr(Msat.Msat),
  /** Not null where a payment waits at the node until the company settles or cancels the invoice. */
  hold: Schema.NullOr(Holder),
  /** What the node held when it was noticed. It is nobody's until it is settled, and then `received`. */
  held: Schema.NullOr(Msat.Msat),
  /** When it is sent back unless it is settled before: an estimate, since that is told by blocks. */
  heldUntilMillis: Schema.NullOr(Schema.Int),
  /** Known to us once it is settled, never before; that of a company's hold invoice, once the company settles it. Shown when it is settled. */
  preimage: Schema.NullOr(Preimage.Preimage),
  /** The withdrawal that is paying it from inside, or did: of a settled one, whether it was from inside. Null again when an outside payment was first. */
  claimedBy: Schema.NullOr(Noun.Id),
  createdAtMillis: Schema.Int,
  expiresAtMillis: Schema.Int,
  settledAtMillis: Schema.NullOr(Schema.Int),
  /** When its company canceled it; of a settled one: it was paid all the same. */
  canceledAtMillis: Schema.NullOr(Schema.Int)
})
export interface Invoice extends Schema.Schema.Type<typeof Invoice> {}

/**
 * Where an invoice stands for its company. `open` may be paid. `accepted`: a payment is under way, or held, and not credited yet. `settled` is final.
 * `expired`: its time is over; a payment that was accepted in time may settle it all the same. `canceled`, by its company, before its time: the same.
 */
export const Standing = Schema.Literals(["open", "accepted", "settled", "expired", "canceled"])
export type Standing = typeof Standing.Type

/** Where an invoice stands at a moment: one that may be paid until 12:00 is `expired` from 12:00 on, whatever else is still to be done about it. */
export const standing = ({ status, expiresAtMillis }: Pick<Invoice, "status" | "expiresAtMillis">, atMillis: number): Standing => {
  if (status === "settled") return "settled"
  if (status === "claimed" || status === "held" || status === "settling") return "accepted"
  if (status === "canceling" || status === "canceled") return "canceled"
  return status === "expired" || expiresAtMillis <= atMillis ? "expired" : "open"
}

/** An invoice as its company is told of it, at some moment. */
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

/** Which invoices of a company, at which moment, and how many at most. `createdAfterMillis` and `createdBeforeMillis` are both exclusive. */
export interface Query {
  readonly atMillis: number
  readonly limit: number
  /** After this one: an id. */
  readonly before: string | null
  readonly standing?: Standing
  readonly lightningAddressId?: string
  readonly label?: Metadata.Label
  readonly paymentHash?: PaymentHash.PaymentHash
  readonly createdAfterMillis?: number
  readonly createdBeforeMillis?: number
}

/** The invoice cannot be paid this way: it is `status` already. */
export class InvoiceNotPayable extends Schema.TaggedError<InvoiceNotPayable>()("InvoiceNotPayable", {
  invoiceId: Schema.String,
  status: Schema.String
}) {}

/** There is nothing to settle: nothing is held for the invoice, or not any more. It is `status`. */
export class InvoiceNotHeld extends Schema.TaggedError<InvoiceNotHeld>()("InvoiceNotHeld", {
  invoiceId: Schema.String,
  status: Standing
}) {}

/** The company has `maximum` hold invoices that have not ended: each may be held. */
export class TooManyHeld extends Schema.TaggedError<TooManyHeld>()("TooManyHeld", { maximum: Schema.Int }) {}

/** A payment is credited by its hash: no two invoices may have one. */
export const noun = Noun.make("invoices", Invoice, {
  moving: ["status", "received", "held", "heldUntilMillis", "preimage", "claimedBy", "settledAtMillis", "canceledAtMillis"],
  unique: [["paymentHash"]],
  labels: "metadata",
  refused: (invoiceId, status) => new InvoiceNotPayable({ invoiceId, status })
})

/** Its life. What a wallet asked for may also be forgotten altogether: `InvoiceForgotten`. */
export const life = {
  claimed: Noun.move(noun, "claimed", {
    from: ["pending"],
    to: "claimed",
    sets: ["claimedBy"],
    again: { in: ["claimed"], same: ["claimedBy"] }
  }),
  held: Noun.move(noun, "held", {
    from: ["pending"],
    to: "held",
    sets: ["held", "heldUntilMillis"],
    again: { in: ["held", "settling", "settled", "canceling", "canceled"] }
  }),
  // Either its company settles it or it goes back: what is canceled, by whomever, is not settled any more.
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
  // An invoice has one preimage: an outside payment of an invoice that was paid from inside has the same proof, and is another payment.
  settled: Noun.move(noun, "settled", {
    from: ["pending", "claimed", "held", "settling", "expired", "canceling", "canceled"],
    to: "settled",
    sets: ["received", "preimage"],
    clears: ["claimedBy"],
    stamps: ["settledAtMillis"],
    again: { in: ["settled"], same: ["received", "preimage", "claimedBy"] }
  }),
  // What another process has forgotten meanwhile is over as well.
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
  // What is not about to be closed needs no closing: a payment may have been first.
  closed: Noun.move(noun, "closed", {
    from: ["canceling"],
    to: "canceled",
    again: { in: ["pending", "claimed", "held", "settling", "settled", "expired", "canceled"] }
  })
}

const addressUsed = Noun.touch(LightningAddress.noun, ["lastUsedAtMillis", "updatedAtMillis"])

export interface InvoiceCreated extends Written<"InvoiceCreated", readonly [Noun.InsertOf<typeof noun>], "once"> {}
/** Applies from any status but `settled`. Settled before by the same payment it is applied; by another one it is refused. */
export interface InvoiceSettled extends Written<
  "InvoiceSettled",
  readonly [Noun.TransitionOf<typeof life.settled>, Noun.InsertOf<typeof Deposit.noun>, Noun.Touch],
  "credit" | "fence"
> {}
/** Applies from `pending`, or from `claimed` by the same withdrawal. */
export interface InvoiceClaimed extends Written<"InvoiceClaimed", readonly [Noun.TransitionOf<typeof life.claimed>], "fence"> {}
/** Applies from `pending`: a payment is held. What is held, or came to an end, stays as it is. */
export interface InvoiceHeld extends Written<"InvoiceHeld", readonly [Noun.TransitionOf<typeof life.held>]> {}
/** Applies from `held`. What is canceled, or not held yet, is refused. */
export interface InvoiceSettling extends Written<"InvoiceSettling", readonly [Noun.TransitionOf<typeof life.settling>]> {}
/** Applies from `held` and `settling`; what is settled stays settled. */
export interface InvoiceReturned extends Written<"InvoiceReturned", readonly [Noun.TransitionOf<typeof life.returned>]> {}
/** Applies from `pending` and `claimed`; what is settled stays settled, and what is canceled stays canceled. */
export interface InvoiceExpired extends Written<"InvoiceExpired", readonly [Noun.TransitionOf<typeof life.expired>]> {}
/** Applies from `pending` and `held`. What is being paid from inside or settled, was paid, or has expired is refused. */
export interface InvoiceCanceled extends Written<"InvoiceCanceled", readonly [Noun.TransitionOf<typeof life.canceled>]> {}
/** Applies from `canceling`; what is settled stays settled. */
export interface InvoiceClosed extends Written<"InvoiceClosed", readonly [Noun.TransitionOf<typeof life.closed>]> {}
/** Applies from `pending` and `expired`: the row is gone. One that is claimed or settled is refused and stays. */
export interface InvoiceForgotten extends Change.Parts<"InvoiceForgotten", InvoiceNotPayable> {}

/** Money that reached the node and belongs to no open invoice, such as a second payment of one. */
export const Unmatched = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  paymentHash: PaymentHash.PaymentHash,
  received: Msat.Msat,
  reason: Schema.String,
  /** When it was noticed first. */
  createdAtMillis: Schema.Int
})
export interface Unmatched extends Schema.Schema.Type<typeof Unmatched> {}

export const unmatchedNoun = Noun.make("unmatched", Unmatched, { moving: ["createdAtMillis"] })
export interface PaymentUnmatched extends Written<"PaymentUnmatched", readonly [Noun.InsertOf<typeof unmatchedNoun>], "credit" | "fence"> {}

/** The work of looking after a hold invoice at the node, from its creation to its end. */
export const holdTask = "hold"
/** How old an invoice is when it is looked at first. */
const firstLookMillis = 1000

/** Its job begins. */
const begins = ({ id, hold, createdAtMillis }: Invoice): ReadonlyArray<Change.Job> =>
  hold === null ? [] : [Change.enqueue({ kind: holdTask, id, dueAtMillis: createdAtMillis + firstLookMillis })]

/** Its job is done, with the Change that ends it. */
export const ends = ({ id, hold }: Pick<Invoice, "id" | "hold">): ReadonlyArray<Change.Job> => (hold === null ? [] : [Change.complete(id)])

/** Whether it is published before it is paid: any stranger can have one made, by a wallet's request or for an offer of ours. */
const isOwn = ({ callback, paymentRequest }: Invoice): boolean => callback === null && !isBolt12(paymentRequest)

/** An invoice exists and may be paid. No money moves. One that a stranger had made is published once it is paid. */
export const created = (invoice: Invoice, once?: Change.Once): InvoiceCreated => ({
  _tag: "InvoiceCreated",
  id: invoice.id,
  companyId: invoice.companyId,
  atMillis: invoice.createdAtMillis,
  legs: [],
  writes: [Noun.insert(noun, invoice)],
  jobs: begins(invoice),
  ...(isOwn(invoice) && { event: { type: "invoice.created", subject: invoice.id } }),
  ...(once && { once })
})

/** Someone paid `deposit.amount`, which may be more than was asked: asked 1000, received 1010, credited 1010. */
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
  legs: [{ companyId: deposit.companyId, postings: [{ from: "node", to: "available", amount: deposit.amount }] }],
  writes: [
    Noun.step(life.settled, { id, companyId: deposit.companyId }, { received: deposit.amount, preimage }),
    Noun.insert(Deposit.noun, deposit),
    addressUsed(deposit.companyId, lightningAddressId)
  ],
  event: { type: "invoice.settled", subject: id },
  ...(cursor && { cursor }),
  ...(fence && { fence })
})

/** The withdrawal alone may pay this invoice from here on, before the node is called to cancel it. */
export const claimed = (invoice: Invoice, withdrawalId: string, fence: Change.Fence, atMillis: number): InvoiceClaimed => ({
  _tag: "InvoiceClaimed",
  id: invoice.id,
  companyId: invoice.companyId,
  atMillis,
  legs: [],
  writes: [Noun.step(life.claimed, invoice, { claimedBy: withdrawalId })],
  fence
})

/** The node holds `held` for it, and sends it back at about `heldUntilMillis`. No money moves. */
export const held = (
  invoice: Invoice,
  payment: { readonly held: Msat.Msat; readonly heldUntilMillis: number },
  atMillis: number
): InvoiceHeld => ({
  _tag: "InvoiceHeld",
  id: invoice.id,
  companyId: invoice.companyId,
  atMillis,
  legs: [],
  writes: [Noun.step(life.held, invoice, payment)],
  event: { type: "invoice.held", subject: invoice.id }
})

/** Its company takes what is held, with the preimage where it is the company's own: the node is told next. No money moves before the node says that it has it. */
export const settling = (invoice: Invoice, preimage: Invoice["preimage"], atMillis: number): InvoiceSettling => ({
  _tag: "InvoiceSettling",
  id: invoice.id,
  companyId: invoice.companyId,
  atMillis,
  legs: [],
  writes: [Noun.step(life.settling, invoice, { preimage })]
})

/** What was held went back, and the node takes no payment for it any more. */
export const returned = (invoice: Invoice, atMillis: number): InvoiceReturned => ({
  _tag: "InvoiceReturned",
  id: invoice.id,
  companyId: invoice.companyId,
  atMillis,
  legs: [],
  writes: [Noun.step(life.returned, invoice, {})],
  jobs: ends(invoice),
  event: { type: "invoice.canceled", subject: invoice.id }
})

/** Not paid in time, nor long enough after. */
export const expired = (invoice: Invoice, atMillis: number): InvoiceExpired => ({
  _tag: "InvoiceExpired",
  id: invoice.id,
  companyId: invoice.companyId,
  atMillis,
  legs: [],
  writes: [Noun.step(life.expired, invoice, {})],
  jobs: ends(invoice),
  event: { type: "invoice.expired", subject: invoice.id }
})

/** Its company wants no payment of it any more: nobody inside may pay it from here on, and the node is told next. `jobs` begin with it. */
export const canceled = (invoice: Invoice, atMillis: number, jobs: ReadonlyArray<Change.Job> = []): InvoiceCanceled => ({
  _tag: "InvoiceCanceled",
  id: invoice.id,
  companyId: invoice.companyId,
  atMillis,
  legs: [],
  writes: [Noun.step(life.canceled, invoice, {})],
  jobs,
  event: { type: "invoice.canceled", subject: invoice.id }
})

/** The node takes no payment of a canceled one, or its time is over. */
export const closed = (invoice: Invoice, atMillis: number): InvoiceClosed => ({
  _tag: "InvoiceClosed",
  id: invoice.id,
  companyId: invoice.companyId,
  atMillis,
  legs: [],
  writes: [Noun.step(life.closed, invoice, {})],
  jobs: ends(invoice)
})

/** A wallet asked for it and did not pay, and the node takes no payment for it any more: nothing of it is kept. */
export const forgotten = ({ id, companyId }: Invoice, atMillis: number): InvoiceForgotten => ({
  _tag: "InvoiceForgotten",
  id,
  companyId,
  atMillis,
  legs: []
})

/** The node has the money, and no company is owed it as far as is known: it waits in `suspense` for an operator. */
export const unmatched = (unmatched: Unmatched, { cursor, fence }: Partial<Change.Reading> = {}): PaymentUnmatched => ({
  _tag: "PaymentUnmatched",
  id: unmatched.id,
  companyId: unmatched.companyId,
  atMillis: unmatched.createdAtMillis,
  transferId: unmatched.id,
  legs: [{ companyId: unmatched.companyId, postings: [{ from: "node", to: "suspense", amount: unmatched.received }] }],
  writes: [Noun.insert(unmatchedNoun, unmatched)],
  event: { type: "payment.unmatched", subject: unmatched.id },
  ...(cursor && { cursor }),
  ...(fence && { fence })
})
