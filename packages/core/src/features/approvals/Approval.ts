import { Schema } from "effect"
import type { Spender } from "../../accounts/Limits.ts"
import * as Change from "../../ledger/Change.ts"
import * as Limit from "../../ledger/Limit.ts"
import * as Noun from "../../ledger/Noun.ts"
import type { Written } from "../../ledger/Written.ts"
import { refundEnds } from "../../sending/RefundTask.ts"
import * as Withdrawal from "../../sending/Withdrawal.ts"

// A withdrawal above a threshold waits for a second key. It is pending, with its money held, and has no job: whatever is the work of a job (to send it, to
// settle it, to fail it) is refused by its fence until the commit that approves it enqueues one.

/** How long a withdrawal waits to be approved. One to an invoice waits no longer than that can be paid. */
export const waitMillis = 24 * 3_600_000

/** Who decides: the key that its requests are known by, however often it was replaced. */
export const keyOf = (apiKey: NonNullable<Spender["apiKey"]>): string => apiKey.spendsAs ?? apiKey.id

/** Nobody waits for it: it was approved, rejected or let expire before, or never needed any. */
export class ApprovalOver extends Schema.TaggedError<ApprovalOver>()("ApprovalOver", {
  id: Schema.String,
  state: Schema.NullOr(Withdrawal.ApprovalState)
}) {}

/** The key that asked for the withdrawal may not approve it, nor may one that replaces it. */
export class ApprovalByAsker extends Schema.TaggedError<ApprovalByAsker>()("ApprovalByAsker", { id: Schema.String }) {}

/** What sending it costs by now is more than it holds. */
export class ApprovalFeeRisen extends Schema.TaggedError<ApprovalFeeRisen>()("ApprovalFeeRisen", { id: Schema.String }) {}

const waiting = ["pending"] as const

/** Its two ways on. Each applies while it is as the Change found it: one that waits. */
export const life = {
  approved: Noun.move(Withdrawal.noun, "approved", {
    from: waiting,
    expects: ["approval"],
    sets: ["approval", "approvalBy"],
    stamps: ["approvalAtMillis", "updatedAtMillis"],
    again: { in: ["pending", "settled", "failed"], same: ["approval", "approvalBy"] }
  }),
  rejected: Noun.move(Withdrawal.noun, "rejected", {
    from: waiting,
    expects: ["approval"],
    to: "failed",
    sets: ["approval", "approvalBy", "failure"],
    clears: ["counted"],
    stamps: ["approvalAtMillis", "updatedAtMillis"],
    again: { in: ["failed"], same: ["approval", "approvalBy"] }
  })
}

/** From here on it is sent as any other. A freeze of its company refuses it, as it does a new one. */
export interface WithdrawalApproved extends Written<
  "WithdrawalApproved",
  readonly [Noun.TransitionOf<typeof life.approved, Withdrawal.Withdrawal>],
  "freeze",
  "withdrawal.approved"
> {}

/** It is not sent: the hold is voided, and what was counted for it is given back. */
export interface WithdrawalRejected extends Written<
  "WithdrawalRejected",
  readonly [Noun.TransitionOf<typeof life.rejected, Withdrawal.Withdrawal>],
  "credit",
  "withdrawal.failed"
> {}

/** One that waits. */
export interface Waiting extends Withdrawal.Withdrawal {
  readonly approval: "waiting"
}

export const isWaiting = (row: Withdrawal.Withdrawal): row is Waiting => Withdrawal.standing(row) === "pending_approval"

/** `work` is the job of sending it. No money moves: it is held since it was asked for. */
export const approved = (row: Waiting, by: string, work: Omit<Change.Work, "id">, atMillis: number): WithdrawalApproved => ({
  _tag: "WithdrawalApproved",
  unlessFrozen: true,
  id: row.id,
  companyId: row.companyId,
  atMillis,
  legs: [],
  writes: [Noun.step(life.approved, row, { approval: "approved", approvalBy: by })],
  jobs: [Change.enqueue({ ...work, id: row.id })],
  event: { type: "withdrawal.approved", subject: row.id }
})

/** By a key, or (`by: null`) because nobody approved it in time. */
export const rejected = (row: Waiting, by: string | null, atMillis: number): WithdrawalRejected => ({
  _tag: "WithdrawalRejected",
  id: row.id,
  companyId: row.companyId,
  atMillis,
  transferId: row.ledgerTxId,
  legs: [{ companyId: row.companyId, postings: [{ from: "held", to: "available", amount: Withdrawal.held(row) }] }],
  ...Limit.returned(row.counted),
  writes: [
    Noun.step(life.rejected, row, {
      approval: by === null ? "expired" : "rejected",
      approvalBy: by,
      failure: by === null ? "approval_expired" : "approval_rejected"
    })
  ],
  jobs: refundEnds(row, atMillis),
  event: { type: "withdrawal.failed", subject: row.id }
})
