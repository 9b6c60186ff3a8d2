import * as Approval from "@satrail/core/features/approvals/Approval"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect } from "effect"

/** The moves of a withdrawal that waits for an approval: see `subjectOf`. */
export const steps = {
  approved: (row: Withdrawal.Withdrawal) => {
    const work = { kind: Withdrawal.taskKind, dueAtMillis: row.createdAtMillis }
    return Effect.succeed(Approval.approved({ ...row, approval: "waiting" }, "key", work, row.createdAtMillis))
  },
  rejected: (row: Withdrawal.Withdrawal) =>
    Effect.succeed(Approval.rejected({ ...row, approval: "waiting" }, "key", row.createdAtMillis + 1))
}
