import * as Approval from "@satrail/features/approvals/core/Approval"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect } from "effect"
import { fenceOf } from "../../journal/Fences.ts"
import { past, withdrawal } from "../../Fixtures.ts"
import { subjectOf } from "../../Subject.ts"

/** Withdrawals created with a pending approval. */
export const waiting = subjectOf(
  Withdrawal.noun,
  Effect.fnUntraced(function* (companyId) {
    const createdAtMillis = yield* past
    const approval = { approval: "waiting", approvalExpiresAtMillis: createdAtMillis + 1 } as const
    return Withdrawal.requested(yield* withdrawal(companyId, 1, { createdAtMillis, ...approval }))
  }),
  {
    approved: (row) => {
      const work = { kind: Withdrawal.taskKind, dueAtMillis: row.createdAtMillis }
      return Effect.succeed(
        Approval.approved({ ...row, approval: "waiting" }, "key", work, row.createdAtMillis)
      )
    },
    rejected: (row) =>
      Effect.succeed(Approval.rejected({ ...row, approval: "waiting" }, "key", row.createdAtMillis + 1)),
    failed: [
      "approved",
      Effect.fnUntraced(function* (row) {
        const claimed = yield* fenceOf(Withdrawal.taskKind, row.id, row.createdAtMillis)
        return Withdrawal.failed(row, "no_route", claimed, row.createdAtMillis + 1)
      })
    ]
  }
)
