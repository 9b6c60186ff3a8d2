import * as Traced from "@satrail/core/base/Traced"
import * as Feature from "@satrail/core/ledger/Feature"
import * as Conversion from "@satrail/core/ledger/Conversion"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import * as WithdrawalHooks from "@satrail/core/sending/WithdrawalHooks"
import * as WithdrawalNotices from "@satrail/core/sending/WithdrawalNotices"
import * as Approval from "./Approval.ts"
import { hook } from "./ApprovalHook.ts"
import { ApprovalReads } from "./ApprovalReads.ts"
import * as Approvals from "./Approvals.ts"

/** Returns the withdrawal in the state that it had right after its approval. */
const approved = (row: Withdrawal.Withdrawal, atMillis: number): Withdrawal.Withdrawal => ({
  ...WithdrawalNotices.asked(row),
  approval: row.approval,
  approvalBy: row.approvalBy,
  approvalAtMillis: row.approvalAtMillis,
  updatedAtMillis: atMillis
})

const tell = Conversion.ofSubject(Withdrawal.noun, (row, atMillis) =>
  WithdrawalNotices.about(approved(row, atMillis), "pending")
)

/** Withdrawals above a threshold wait until another key approves them. */
export const approvals = Feature.make({
  name: "approvals",
  lives: [Approval.life],
  changes: Feature.changes<Approval.WithdrawalApproved | Approval.WithdrawalRejected>(),
  events: { "withdrawal.approved": "withdrawals" },
  notices: {
    byEvent: {
      "withdrawal.approved": {
        as: ["withdrawal.lightning.pending", "withdrawal.on_chain.pending"],
        convert: tell
      }
    }
  },
  reads: ApprovalReads,
  layer: Traced.over(Approvals.Approvals, Approvals.layer),
  workers: Approvals.layerWorker,
  extensions: WithdrawalHooks.layer(hook)
})
