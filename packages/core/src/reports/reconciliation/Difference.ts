import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { Schema } from "effect"
import * as CompanyId from "../../base/CompanyId.ts"
import type { Sent, Taken } from "../../nodes/LightningBooks.ts"
import type { InvoiceState } from "../../nodes/LightningReceiver.ts"
import type { Payment } from "../../nodes/LightningSender.ts"
import type { OfferPayment } from "../../nodes/OfferSender.ts"
import type { Deposit } from "../../receiving/Deposit.ts"
import type { Invoice, Unmatched } from "../../receiving/Invoice.ts"
import { hashOf, type Withdrawal } from "../../sending/Withdrawal.ts"

/**
 * Causes of a discrepancy. `payment_…`: payments reported by the node. `withdrawal_…`: payments in our records.
 * `receipt_…`: receipts reported by the node. `deposit_…`: credits in our records. `deposit_not_credited`: an
 * evicted deposit is in a block. For what to do about each cause, see docs/guides/reconcile.md.
 */
export const Cause = Schema.Literals([
  "payment_not_ours",
  "payment_of_failed",
  "payment_not_booked",
  "payment_amount",
  "payment_fee",
  "withdrawal_not_paid",
  "withdrawal_not_proven",
  "receipt_not_ours",
  "receipt_not_credited",
  "receipt_amount",
  "deposit_not_received",
  "deposit_amount",
  "deposit_not_credited",
  "coin_gone",
  "node_balance",
  "on_chain_balance"
])
export type Cause = typeof Cause.Type

const Id = Schema.NullOr(Schema.String)

/** A mismatch, with the amounts on both sides; an amount is null if that side has none. */
export const Finding = Schema.Struct({
  cause: Cause,
  companyId: Schema.NullOr(CompanyId.CompanyId),
  /** The withdrawal, invoice or deposit. */
  recordId: Id,
  ours: Schema.NullOr(Msat.FromString),
  theirs: Schema.NullOr(Msat.FromString)
})
export interface Finding extends Schema.Schema.Type<typeof Finding> {}

/**
 * A finding with its subject and the time of the run that first found it. Until a grace period has passed, a
 * payment in flight may be its cause.
 */
export const Difference = Schema.Struct({
  ...Finding.fields,
  /** A payment hash, the id of one of our records, an outpoint, or an account. */
  about: Schema.String,
  sinceMillis: Schema.Int
})
export interface Difference extends Schema.Schema.Type<typeof Difference> {}

/** A finding of the current run, without the time at which it was first found. */
export type Found = Omit<Difference, "sinceMillis">

/**
 * `same` means that no further check is needed. `under_way` means that there is no result yet, so the entry
 * will be checked again.
 */
export type Judgement = "same" | "under_way" | Finding

type Row = { readonly companyId: CompanyId.CompanyId; readonly id: string } | undefined

const finding = (cause: Cause, row: Row, ours: Msat.Msat | null, theirs: Msat.Msat | null): Finding => ({
  cause,
  companyId: row?.companyId ?? null,
  recordId: row?.id ?? null,
  ours,
  theirs
})

/**
 * Compares a payment made by the node with the withdrawal found by its hash or attempt. A dispatch is always
 * stored before the node is called, so a payment without one is not ours.
 */
export const ofSent = (sent: Sent, withdrawal: Withdrawal | undefined): Judgement => {
  const { amount, fee, state } = sent
  if (withdrawal === undefined || withdrawal.dispatchedAtMillis === null)
    return state === "failed" ? "same" : finding("payment_not_ours", undefined, null, amount)
  const differs = (cause: Cause, ours: Msat.Msat | null, theirs: Msat.Msat | null) =>
    finding(cause, withdrawal, ours, theirs)
  if (state !== "failed" && withdrawal.amount !== amount)
    return differs("payment_amount", withdrawal.amount, amount)
  switch (withdrawal.status) {
    case "pending":
      return state === "settled" ? differs("payment_not_booked", null, amount) : "under_way"
    case "failed":
      return state === "failed" ? "same" : differs("payment_of_failed", null, amount)
    case "settled":
      if (state !== "settled") return differs("withdrawal_not_paid", withdrawal.amount, null)
      return withdrawal.networkFee === fee ? "same" : differs("payment_fee", withdrawal.networkFee, fee)
  }
}

/** Returns a finding if a settled withdrawal lacks a valid preimage, whatever the node reports. */
export const unproven = (withdrawal: Withdrawal): Finding | undefined => {
  const { amount, preimage } = withdrawal
  const paymentHash = hashOf(withdrawal)
  const isProven = preimage !== null && paymentHash !== null && Preimage.proves(preimage, paymentHash)
  return isProven ? undefined : finding("withdrawal_not_proven", withdrawal, amount, null)
}

/**
 * Compares a settled withdrawal with the node's report of it. If the node's state is unknown, the withdrawal is
 * queried again.
 */
export const ofSettled = (
  withdrawal: Withdrawal,
  payment: Payment | OfferPayment | { readonly _tag: "notFound" }
): Judgement => {
  const { amount, networkFee } = withdrawal
  if (payment._tag === "unknown") return "under_way"
  // An operator settled it with the preimage, because the node has lost its record.
  if (payment._tag === "notFound" && withdrawal.paymentIndex === null) return "same"
  if (payment._tag !== "settled") return finding("withdrawal_not_paid", withdrawal, amount, null)
  return payment.fee === networkFee ? "same" : finding("payment_fee", withdrawal, networkFee, payment.fee)
}

/** Our records of a payment received by the node. */
export interface Receipt {
  readonly invoice: Invoice | undefined
  readonly deposit: Deposit | undefined
  /**
   * True if the invoice was settled internally. If the node also received a payment for it, that payment is in
   * suspense.
   */
  readonly isFromInside: boolean
  readonly unmatched: Unmatched | undefined
}

/** Compares a payment received by the node with the amount credited for it. */
export const ofTaken = (
  { received }: Taken,
  { invoice, deposit, isFromInside, unmatched }: Receipt
): Judgement => {
  if (invoice === undefined) return finding("receipt_not_ours", undefined, null, received)
  if (unmatched?.received === received) return "same"
  if (deposit === undefined || isFromInside) return finding("receipt_not_credited", invoice, null, received)
  return deposit.amount === received ? "same" : finding("receipt_amount", invoice, deposit.amount, received)
}

/** Compares an invoice credited for an external payment with the node's report of it. */
export const ofCredited = (
  invoice: Invoice,
  deposit: Deposit | undefined,
  state: InvoiceState
): Judgement => {
  const credited = deposit?.amount ?? null
  if (state._tag !== "settled") return finding("deposit_not_received", invoice, credited, null)
  return credited === state.received ? "same" : finding("deposit_amount", invoice, credited, state.received)
}
