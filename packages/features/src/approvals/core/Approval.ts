import { Schema } from "effect"
import * as Change from "@satrail/core/ledger/Change"
import * as Limit from "@satrail/core/ledger/Limit"
import * as Noun from "@satrail/core/ledger/Noun"
import { type Written, written } from "@satrail/core/ledger/Written"
import * as Cause from "@satrail/core/sending/Cause"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"

// A withdrawal above a threshold waits until a second key approves it. While waiting, the withdrawal is
// pending, its funds are held, and it has no job. The payment worker's Changes require a job's fencing token,
// so the worker can neither send nor fail the withdrawal until approval enqueues the job. After a restore, an operator adds
// jobs that are not due, so that an approval does not send again what was paid after the dump.

/**
 * Maximum time a withdrawal waits for approval. If it pays an invoice, it also stops waiting when the invoice
 * expires.
 */
export const waitMillis = 24 * 3_600_000

/** The withdrawal is not waiting for approval: it was approved or rejected, it expired, or it never needed approval. */
export class ApprovalOver extends Schema.TaggedError<ApprovalOver>()("ApprovalOver", {
  id: Schema.String,
  state: Schema.NullOr(Withdrawal.ApprovalState)
}) {}

/** A key may not approve its own withdrawal, even if the key was rotated after requesting it. */
export class ApprovalByAsker extends Schema.TaggedError<ApprovalByAsker>()("ApprovalByAsker", {
  id: Schema.String
}) {}

/** The current fee is more than the withdrawal holds. */
export class ApprovalFeeRisen extends Schema.TaggedError<ApprovalFeeRisen>()("ApprovalFeeRisen", {
  id: Schema.String
}) {}

const waiting = ["pending"] as const

/**
 * Transitions of a waiting withdrawal. Each applies only if the withdrawal is still pending and its approval
 * has not changed since it was read.
 */
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

/**
 * The withdrawal was approved and will be sent like any other. Approval is refused while the company is frozen,
 * just as a new withdrawal is.
 */
export interface WithdrawalApproved extends Written<
  "WithdrawalApproved",
  readonly [Noun.TransitionOf<typeof life.approved, Withdrawal.Withdrawal>],
  "freeze",
  "withdrawal.approved"
> {}

/** The withdrawal will not be sent. Its hold is voided, and it no longer counts against limits. */
export interface WithdrawalRejected extends Written<
  "WithdrawalRejected",
  readonly [Noun.TransitionOf<typeof life.rejected, Withdrawal.Withdrawal>],
  "credit",
  "withdrawal.failed"
> {}

/**
 * Approves a withdrawal. `work` is the job that sends it. No money moves, because the amount is already held.
 */
export const approved = (
  row: Withdrawal.Waiting,
  by: string,
  work: Omit<Change.Work, "id">,
  atMillis: number
): WithdrawalApproved =>
  written(
    "WithdrawalApproved",
    atMillis,
    [Noun.step(life.approved, row, { approval: "approved", approvalBy: by })],
    {
      unlessFrozen: true,
      jobs: [Change.enqueue({ ...work, id: row.id })],
      event: { type: "withdrawal.approved", subject: row.id }
    }
  )

/** Rejects a withdrawal on behalf of a key or the operator, or expires it if `by` is null. */
export const rejected = (
  row: Withdrawal.Waiting,
  by: string | null,
  atMillis: number
): WithdrawalRejected => ({
  _tag: "WithdrawalRejected",
  id: row.id,
  companyId: row.companyId,
  atMillis,
  transferId: row.ledgerTxId,
  legs: [
    { companyId: row.companyId, postings: [{ from: "held", to: "available", amount: Withdrawal.held(row) }] }
  ],
  ...Limit.returned(row.counted),
  writes: [
    Noun.step(life.rejected, row, {
      approval: by === null ? "expired" : "rejected",
      approvalBy: by,
      failure: by === null ? "approval_expired" : "approval_rejected"
    })
  ],
  // An operator may have added a job after a restore.
  jobs: [Change.complete(row.id), ...Cause.jobs(row, atMillis)],
  event: { type: "withdrawal.failed", subject: row.id }
})
