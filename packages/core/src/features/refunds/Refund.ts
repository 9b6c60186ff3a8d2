import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import * as CompanyId from "../../base/CompanyId.ts"
import * as Metadata from "../../base/Metadata.ts"
import * as Change from "../../ledger/Change.ts"
import * as Noun from "../../ledger/Noun.ts"
import type { Written } from "../../ledger/Written.ts"
import * as Deposit from "../../receiving/Deposit.ts"
import type * as Voucher from "../vouchers/Voucher.ts"
import type * as Withdrawal from "../../sending/Withdrawal.ts"

/**
 * `open` is a link that nobody has claimed. `pending` is being paid. `completed` was paid. `failed`: the payment failed. `expired`: the link was not claimed in
 * time. `canceled`: its company canceled it. The last three gave the deposit back what they took of it, and it may be refunded again.
 */
export const Status = Schema.Literals(["open", "pending", "completed", "failed", "expired", "canceled"])
export type Status = typeof Status.Type

/** Whose amount is taken of the deposit. */
export const takes: ReadonlyArray<Status> = ["open", "pending", "completed"]

/** Money that goes back to who paid a deposit. `amount` is what the payer gets; the fees come on top, as in a withdrawal. */
export const Refund = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  depositId: Noun.Id,
  amount: Msat.Msat,
  description: Schema.String,
  metadata: Metadata.Metadata,
  status: Status,
  /** The voucher whose link the payer claims; null where there is a destination. */
  voucherId: Schema.NullOr(Noun.Id),
  /** The withdrawal that pays it; null while a link is not claimed. */
  withdrawalId: Schema.NullOr(Noun.Id),
  /** The checkout whose page tells its payer of it; null where none does. */
  checkoutId: Schema.NullOr(Noun.Id),
  /** The link that this page shows, encrypted: whoever reads the store claims nothing. Null where it shows none. */
  sealedLink: Schema.NullOr(Schema.String),
  createdAtMillis: Schema.Int,
  updatedAtMillis: Schema.Int
})
export interface Refund extends Schema.Schema.Type<typeof Refund> {}

/** It is `status` already: only an open one can be canceled. */
export class RefundNotOpen extends Schema.TaggedError<RefundNotOpen>()("RefundNotOpen", { id: Schema.String, status: Schema.String }) {}

/** Nothing of the deposit is credited now: it is not confirmed yet, a reorganisation took it away, or it failed. */
export class NotRefundable extends Schema.TaggedError<NotRefundable>()("NotRefundable", {
  depositId: Schema.String,
  status: Schema.String
}) {}

/** More than came in, with what is refunded already. */
export class RefundTooLarge extends Schema.TaggedError<RefundTooLarge>()("RefundTooLarge", {
  depositId: Schema.String,
  /** What may still be refunded. */
  left: Msat.Msat
}) {}

export const noun = Noun.make("refunds", Refund, {
  moving: ["status", "withdrawalId", "updatedAtMillis"],
  refused: (id, status) => new RefundNotOpen({ id, status })
})

/** What refunds do to their deposit. */
export const depositLife = {
  // Of two refunds at once that found the same sum, one applies. The other checks again what is left.
  refunded: Noun.move(Deposit.noun, "refunded", {
    from: ["settled"],
    expects: ["refunded"],
    sets: ["refunded", "refundId"],
    stamps: ["updatedAtMillis"],
    again: { same: ["refundId"] }
  })
}

/** Adds to what is refunded of a deposit, or takes away from it. */
const refundedMore = Noun.add(Deposit.noun, "refunded")

/** Its life, which follows that of what pays it. */
export const life = {
  claimed: Noun.move(noun, "claimed", {
    from: ["open"],
    to: "pending",
    sets: ["withdrawalId"],
    stamps: ["updatedAtMillis"],
    again: { in: ["pending", "completed", "failed"] }
  }),
  completed: Noun.move(noun, "completed", {
    from: ["open", "pending"],
    to: "completed",
    sets: ["withdrawalId"],
    stamps: ["updatedAtMillis"],
    again: { in: ["completed"] }
  }),
  failed: Noun.move(noun, "failed", {
    from: ["open", "pending"],
    to: "failed",
    sets: ["withdrawalId"],
    stamps: ["updatedAtMillis"],
    again: { in: ["failed"] }
  }),
  expired: Noun.move(noun, "expired", { from: ["open"], to: "expired", stamps: ["updatedAtMillis"], again: { in: ["expired"] } }),
  canceled: Noun.move(noun, "canceled", { from: ["open"], to: "canceled", stamps: ["updatedAtMillis"], again: { in: ["canceled"] } })
}

type Payment = Noun.InsertOf<typeof Voucher.noun> | Noun.InsertOf<typeof Withdrawal.noun>
type GivesBack<M> = readonly [Noun.TransitionOf<M>, Noun.Add]

/** Applies where the deposit is credited, and no other refund of it came between: it is judged by the deposit that it takes from. */
export interface RefundCreated extends Written<
  "RefundCreated",
  readonly [Noun.TransitionOf<typeof depositLife.refunded, Deposit.Deposit>, Noun.InsertOf<typeof noun>, Payment],
  "money" | "limits" | "freeze" | "fees" | "once",
  "refund.created"
> {}
export interface RefundClaimed extends Written<"RefundClaimed", readonly [Noun.TransitionOf<typeof life.claimed>], "fence", never> {}
export interface RefundCompleted extends Written<
  "RefundCompleted",
  readonly [Noun.TransitionOf<typeof life.completed>],
  "fence",
  "refund.completed"
> {}
export interface RefundFailed extends Written<"RefundFailed", GivesBack<typeof life.failed>, "fence", "refund.failed"> {}
export interface RefundExpired extends Written<"RefundExpired", GivesBack<typeof life.expired>, "fence", "refund.expired"> {}
export interface RefundCanceled extends Written<"RefundCanceled", GivesBack<typeof life.canceled>, "fence", "refund.canceled"> {}

/** A step of its life that follows from what pays it. */
export type Next = RefundClaimed | RefundCompleted | RefundFailed | RefundExpired | RefundCanceled

/** A refund as the page of its checkout tells of it. `expiresAtMillis` is when its link ends, null where nothing is to be claimed any more. */
export interface Told {
  readonly refund: Refund
  readonly expiresAtMillis: number | null
}

/** A refund with the voucher that pays it, where a link does, as they are at a moment: undefined where the payer gets nothing of it. */
export const told = (refund: Refund, voucher: Voucher.Voucher | undefined, atMillis: number): Told | undefined => {
  if (!takes.includes(refund.status)) return undefined
  if (refund.status !== "open" || voucher === undefined) return { refund, expiresAtMillis: null }
  const { status, expiresAtMillis } = voucher
  // What follows for the refund from its voucher may not be committed yet.
  if (status === "claimed") return { refund: { ...refund, status: "pending" }, expiresAtMillis: null }
  return status === "open" && atMillis < expiresAtMillis ? { refund, expiresAtMillis } : undefined
}

/** What may still be refunded of a deposit. */
export const left = ({ amount, refunded }: Deposit.Deposit): Msat.Msat => Msat.make(amount - refunded)

/** The voucher or withdrawal is made with it, in one commit that takes its part of the deposit. */
export const created = (
  refund: Refund,
  deposit: Deposit.Deposit,
  payment: Voucher.VoucherCreated | Withdrawal.WithdrawalRequested,
  once?: Change.Once
): RefundCreated => {
  const { legs, jobs, transferId, counts, feesRevision, writes } = payment
  return {
    _tag: "RefundCreated",
    unlessFrozen: true,
    id: deposit.id,
    companyId: deposit.companyId,
    atMillis: refund.createdAtMillis,
    legs,
    ...(transferId !== undefined && { transferId }),
    ...(jobs && { jobs }),
    ...(counts && { counts }),
    ...(feesRevision !== undefined && { feesRevision }),
    writes: [
      Noun.step(depositLife.refunded, deposit, { refunded: Msat.sum(deposit.refunded, refund.amount), refundId: refund.id }),
      Noun.insert(noun, refund),
      writes[0]
    ],
    event: { type: "refund.created", subject: refund.id },
    ...(once && { once })
  }
}

const parts = ({ id, companyId }: Refund, atMillis: number, fence: Change.Fence | undefined) => ({
  id,
  companyId,
  atMillis,
  legs: [],
  ...(fence && { fence })
})

const ended = <const T extends "completed" | "failed" | "expired" | "canceled">(
  refund: Refund,
  as: T,
  atMillis: number,
  fence: Change.Fence | undefined
) => ({
  ...parts(refund, atMillis, fence),
  jobs: [Change.complete(refund.id)],
  event: { type: `refund.${as}` as const, subject: refund.id }
})

const givenBack = ({ companyId, depositId, amount }: Refund): Noun.Add => refundedMore(companyId, depositId, -amount)

/** What follows for a refund from what pays it, as both are; undefined where nothing does yet. */
export const next = (
  refund: Refund,
  { voucher, withdrawal }: { readonly voucher: Voucher.Voucher | undefined; readonly withdrawal: Withdrawal.Withdrawal | undefined },
  atMillis: number,
  fence?: Change.Fence
): Next | undefined => {
  if (withdrawal !== undefined) {
    const paidBy = { withdrawalId: withdrawal.id }
    if (withdrawal.status === "settled") {
      const writes = [Noun.step(life.completed, refund, paidBy)] as const
      return { _tag: "RefundCompleted", ...ended(refund, "completed", atMillis, fence), writes }
    }
    if (withdrawal.status === "failed") {
      const writes = [Noun.step(life.failed, refund, paidBy), givenBack(refund)] as const
      return { _tag: "RefundFailed", ...ended(refund, "failed", atMillis, fence), writes }
    }
    if (refund.status !== "open") return undefined
    return { _tag: "RefundClaimed", ...parts(refund, atMillis, fence), writes: [Noun.step(life.claimed, refund, paidBy)] }
  }
  if (voucher?.status === "expired") {
    const writes = [Noun.step(life.expired, refund, {}), givenBack(refund)] as const
    return { _tag: "RefundExpired", ...ended(refund, "expired", atMillis, fence), writes }
  }
  if (voucher?.status === "canceled") {
    const writes = [Noun.step(life.canceled, refund, {}), givenBack(refund)] as const
    return { _tag: "RefundCanceled", ...ended(refund, "canceled", atMillis, fence), writes }
  }
  return undefined
}
