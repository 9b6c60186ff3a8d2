import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Metadata from "@satrail/core/base/Metadata"
import * as Change from "@satrail/core/ledger/Change"
import * as Noun from "@satrail/core/ledger/Noun"
import type { Written } from "@satrail/core/ledger/Written"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Voucher from "../../vouchers/core/Voucher.ts"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import * as Rated from "@satrail/core/base/Rated"

/**
 * `open`: the link is not claimed yet. `pending`: the payment is in progress. `completed`: the payment settled.
 * `failed`: the payment failed. `expired`: the link was not claimed in time. `canceled`: canceled by its
 * company. In the last three states, the amount can be refunded from the deposit again.
 */
export const Status = Schema.Literals(["open", "pending", "completed", "failed", "expired", "canceled"])
export type Status = typeof Status.Type

/** Limits and default of the lifetime of a refund's link, in seconds. */
export const { expirySeconds } = Voucher

/** Statuses in which the amount counts as refunded from the deposit. */
export const takes: ReadonlyArray<Status> = ["open", "pending", "completed"]

/**
 * A refund to the payer of a deposit. `amount` is the amount that the payer receives, in msat. Fees are added
 * to it, as for a withdrawal.
 */
export const Refund = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  depositId: Noun.Id,
  amount: Msat.Msat,
  ...Rated.members,
  description: Schema.String,
  metadata: Metadata.Metadata,
  status: Status,
  /** The voucher whose link the payer claims; null for a refund to a destination. */
  voucherId: Schema.NullOr(Noun.Id),
  /** The withdrawal that pays it; null until a link is claimed. */
  withdrawalId: Schema.NullOr(Noun.Id),
  /** The checkout whose page shows the refund to its payer; null if no page shows it. */
  checkoutId: Schema.NullOr(Noun.Id),
  /**
   * The link shown on that page, encrypted so that access to the store alone is not enough to claim it. Null if
   * the page shows no link.
   */
  sealedLink: Schema.NullOr(Schema.String),
  /** Id of the API key or person that created it; null if the host program did, or if it is older than this member. */
  createdBy: Schema.NullOr(Schema.String),
  createdAtMillis: Schema.Int,
  updatedAtMillis: Schema.Int
})
export interface Refund extends Schema.Schema.Type<typeof Refund> {}

/** The refund is not open and cannot be canceled; its status is `status`. */
export class RefundNotOpen extends Schema.TaggedError<RefundNotOpen>()("RefundNotOpen", {
  id: Schema.String,
  status: Schema.String
}) {}

/**
 * The deposit is not currently credited: it is unconfirmed, was reversed after a reorganization, or failed. Or
 * `status` is `underpaid`: the rest of its checkout can still be paid.
 */
export class NotRefundable extends Schema.TaggedError<NotRefundable>()("NotRefundable", {
  depositId: Schema.String,
  status: Schema.String
}) {}

/** Together with earlier refunds, the amount exceeds the deposit. */
export class RefundTooLarge extends Schema.TaggedError<RefundTooLarge>()("RefundTooLarge", {
  depositId: Schema.String,
  /** The amount that can still be refunded. */
  left: Msat.Msat
}) {}

export const noun = Noun.make("refunds", Refund, {
  moving: ["status", "withdrawalId", "updatedAtMillis"],
  refused: (id, status) => new RefundNotOpen({ id, status })
})

export const depositLife = {
  // If two concurrent refunds read the same total, only one applies. The other reads the remaining amount
  // again.
  refunded: Noun.move(Deposit.noun, "refunded", {
    from: ["settled"],
    expects: ["refunded"],
    sets: ["refunded", "refundId"],
    stamps: ["updatedAtMillis"],
    again: { same: ["refundId"] }
  })
}

/** Adds to the refunded total of a deposit, or subtracts from it. */
const refundedMore = Noun.add(Deposit.noun, "refunded")

/** Transitions of a refund. Each one is caused by a transition of the refund's payment. */
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
  expired: Noun.move(noun, "expired", {
    from: ["open"],
    to: "expired",
    stamps: ["updatedAtMillis"],
    again: { in: ["expired"] }
  }),
  canceled: Noun.move(noun, "canceled", {
    from: ["open"],
    to: "canceled",
    stamps: ["updatedAtMillis"],
    again: { in: ["canceled"] }
  })
}

type Pays = Noun.InsertOf<typeof Voucher.noun> | Noun.InsertOf<typeof Withdrawal.noun>
type GivesBack<M> = readonly [Noun.TransitionOf<M>, Noun.Add]

/**
 * Applies if the deposit is credited and no other refund of the deposit was committed first.
 */
export interface RefundCreated extends Written<
  "RefundCreated",
  readonly [
    Noun.TransitionOf<typeof depositLife.refunded, Deposit.Deposit>,
    Noun.InsertOf<typeof noun>,
    Pays
  ],
  "money" | "limits" | "freeze" | "fees" | "once",
  "refund.created"
> {}
export interface RefundClaimed extends Written<
  "RefundClaimed",
  readonly [Noun.TransitionOf<typeof life.claimed>],
  "fence",
  never
> {}
export interface RefundCompleted extends Written<
  "RefundCompleted",
  readonly [Noun.TransitionOf<typeof life.completed>],
  "fence",
  "refund.completed"
> {}
export interface RefundFailed extends Written<
  "RefundFailed",
  GivesBack<typeof life.failed>,
  "fence",
  "refund.failed"
> {}
export interface RefundExpired extends Written<
  "RefundExpired",
  GivesBack<typeof life.expired>,
  "fence",
  "refund.expired"
> {}
export interface RefundCanceled extends Written<
  "RefundCanceled",
  GivesBack<typeof life.canceled>,
  "fence",
  "refund.canceled"
> {}

/** A Change caused by the progress of the refund's payment. */
export type Next = RefundClaimed | RefundCompleted | RefundFailed | RefundExpired | RefundCanceled

/** Returns whether a Change makes the refund's amount refundable again. */
export const givesBack = (change: Next): change is RefundFailed | RefundExpired | RefundCanceled =>
  change._tag !== "RefundClaimed" && change._tag !== "RefundCompleted"

/**
 * A refund as shown on its checkout's page. `expiresAtMillis` is the time at which its link expires, or null if
 * there is nothing left to claim.
 */
export interface Shown {
  readonly refund: Refund
  readonly expiresAtMillis: number | null
}

/** The records that pay a refund, as far as they exist. */
export interface Payment {
  readonly voucher: Voucher.Voucher | undefined
  readonly withdrawal: Withdrawal.Withdrawal | undefined
}

/**
 * Returns a refund as its checkout page shows it at a point in time. `paidBy` is undefined if the refund is
 * completed. Returns undefined if the payer receives nothing, or if the payment waits and may never be sent.
 */
export const shownAt = (refund: Refund, paidBy: Payment | undefined, atMillis: number): Shown | undefined => {
  if (!takes.includes(refund.status)) return undefined
  const { voucher, withdrawal } = paidBy ?? {}
  if (withdrawal !== undefined && Withdrawal.isWaiting(withdrawal)) return undefined
  if (refund.status !== "open" || voucher === undefined) return { refund, expiresAtMillis: null }
  const { status, expiresAtMillis } = voucher
  // The voucher's Change is committed first, so the refund's Change may still be outstanding.
  if (status === "claimed") return { refund: { ...refund, status: "pending" }, expiresAtMillis: null }
  return status === "open" && atMillis < expiresAtMillis ? { refund, expiresAtMillis } : undefined
}

/** Returns the amount of a deposit that can still be refunded. */
export const left = ({ amount, refunded }: Deposit.Deposit): Msat.Msat => Msat.make(amount - refunded)

/**
 * Creates a refund together with its voucher or withdrawal, and adds it to the deposit's refunded total, in
 * one commit.
 */
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
      Noun.step(depositLife.refunded, deposit, {
        refunded: Msat.sum(deposit.refunded, refund.amount),
        refundId: refund.id
      }),
      Noun.insert(noun, refund),
      writes[0]
    ],
    event: { type: "refund.created", subject: refund.id },
    ...(once && { once })
  }
}

const parts = (refund: Refund, atMillis: number, fence: Change.Fence | undefined) => ({
  ...Change.on(refund, atMillis),
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

const givenBack = ({ companyId, depositId, amount }: Refund): Noun.Add =>
  refundedMore(companyId, depositId, -amount)

/** Returns the Change that a refund's payment causes, or undefined if it does not cause one yet. */
export const next = (
  refund: Refund,
  { voucher, withdrawal }: Payment,
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
    return {
      _tag: "RefundClaimed",
      ...parts(refund, atMillis, fence),
      writes: [Noun.step(life.claimed, refund, paidBy)]
    }
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
