import * as Traced from "../../base/Traced.ts"
import * as Feature from "../../ledger/Feature.ts"
import * as Telling from "../../ledger/Telling.ts"
import * as Withdrawal from "../../sending/Withdrawal.ts"
import * as WithdrawalHooks from "../../sending/WithdrawalHooks.ts"
import * as WithdrawalNotices from "../../sending/WithdrawalNotices.ts"
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

const tell = Telling.ofSubject(Withdrawal.noun, (row, atMillis) => WithdrawalNotices.about(approved(row, atMillis), "pending"))

/** Withdrawals above a threshold wait until another key approves them. */
export const approvals = Feature.make({
  name: "approvals",
  lives: [Approval.life],
  changes: Feature.changes<Approval.WithdrawalApproved | Approval.WithdrawalRejected>(),
  events: { "withdrawal.approved": "withdrawals" },
  notices: { told: { "withdrawal.approved": { as: ["withdrawal.lightning.pending", "withdrawal.on_chain.pending"], tell } } },
  reads: ApprovalReads,
  layer: Traced.over(Approvals.Approvals, Approvals.layer),
  workers: Approvals.layerWorker,
  extensions: WithdrawalHooks.layer(hook)
})
