import * as Approval from "@satrail/core/features/approvals/Approval"
import * as Core from "@satrail/core/features/approvals/Approvals"
import type { Withdrawal } from "@satrail/core/sending/Withdrawal"
import { Effect } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Scopes, sender } from "../../api/Authentication.ts"
import * as Envelope from "../../wire/Envelope.ts"
import { Example, type World } from "../../wire/Examples.ts"
import * as OwnErrors from "../../wire/OwnErrors.ts"
import * as Scalars from "../../wire/Scalars.ts"
import * as Section from "../../api/Section.ts"
import * as View from "../../wire/View.ts"
import * as Withdrawals from "../../resources/Withdrawals.ts"

const states = {
  waiting: "it is being decided about",
  approved: "it was approved",
  rejected: "it was rejected",
  expired: "nobody approved it in time"
} as const

export const errors = OwnErrors.make({
  ApprovalOver: {
    code: "approval_over",
    status: 409,
    meaning: "The withdrawal does not wait for an approval: another key rejected or approved it, it has expired, or it never needed one.",
    remedy: "See its `status` and `approval`.",
    message: ({ state }: Approval.ApprovalOver) =>
      state === null ? "The withdrawal needs no approval" : `The withdrawal does not wait for an approval: ${states[state]}`
  },
  ApprovalByAsker: {
    code: "approval_by_asker",
    status: 403,
    meaning: "The key that asked for a withdrawal cannot approve it, nor can one that replaces that key.",
    remedy: "Approve it with another key that has the scope `approve`. The same key may reject it.",
    message: (_: Approval.ApprovalByAsker) => "The key that asked for the withdrawal cannot approve it: use another one"
  },
  ApprovalFeeRisen: {
    code: "approval_fee_risen",
    status: 409,
    meaning: "The network's fee is more by now than the withdrawal holds. Nothing was changed: it waits.",
    remedy: "Approve it when the fee has fallen, or reject it and ask for it again.",
    message: (_: Approval.ApprovalFeeRisen) =>
      "The network's fee is more by now than the withdrawal holds: approve it later, or reject it and ask for it again"
  }
})

const decidePath = "/v1/transactions/withdrawals/:withdrawalID"
const decidedBy = { params: { withdrawalID: Scalars.Uuid }, success: Envelope.success(200, Withdrawals.view.schema) }

/** Who decides, and about what. */
const decision = (withdrawalID: string) => Effect.map(sender, (from) => ({ ...from, id: withdrawalID.toLowerCase() }))

const awaiting = (world: World): Withdrawal => ({
  ...Withdrawals.example(world).requested,
  approval: "waiting",
  approvalAskedBy: world.apiKey.id,
  approvalExpiresAtMillis: world.millis(60_000) + Approval.waitMillis
})

const approve = Section.company(
  HttpApiEndpoint.post("approve", `${decidePath}/approve`, {
    ...decidedBy,
    error: errors.of(
      "not_found",
      "approval_over",
      "approval_by_asker",
      "approval_fee_risen",
      "unsupported",
      "amount_required",
      "amount_mismatch",
      "amount_out_of_range",
      "dust",
      "invoice_expired",
      "invoice_not_payable",
      "payment_hash_used",
      "recipient_not_found",
      "final_cltv_too_long",
      "recipient_refused",
      "recipient_unreachable",
      "chain_unavailable",
      "company_frozen",
      "store_unavailable"
    )
  })
    .annotate(Scopes, ["approve"])
    .annotate(OpenApi.Summary, "Approve a withdrawal")
    .annotate(
      OpenApi.Description,
      "Queues the payment of one that is `pending_approval`. Needs the scope `approve`, and another key than the one that asked for it. The destination is validated again, and the network's fee may not have risen above what is held: then nothing changes, and it can still be approved later or rejected. Approving it again changes nothing."
    )
    .annotate(Example, (world) => {
      const row = awaiting(world)
      const data = Withdrawals.view.of({ ...row, approval: "approved", approvalBy: "9Xw4nRt2KbMd", approvalAtMillis: world.millis(90_000) })
      return { params: { withdrawalID: row.id }, message: "Withdrawal approved", data }
    }),
  Core.Approvals,
  (approvals) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* errors.answered(approvals.approve(yield* decision(params.withdrawalID)))
      return View.answer("Withdrawal approved", Withdrawals.view.of(row))
    })
)

const reject = Section.company(
  HttpApiEndpoint.post("reject", `${decidePath}/reject`, {
    ...decidedBy,
    error: errors.of("not_found", "approval_over", "store_unavailable")
  })
    .annotate(Scopes, ["approve"])
    .annotate(OpenApi.Summary, "Reject a withdrawal")
    .annotate(
      OpenApi.Description,
      "One that is `pending_approval` is not sent: it is `failed`, and amount and fee are available again. Needs the scope `approve`; the key that asked for it may, too. Rejecting it again changes nothing."
    )
    .annotate(Example, (world) => {
      const row = awaiting(world)
      const decided = { approval: "rejected", approvalBy: "9Xw4nRt2KbMd", approvalAtMillis: world.millis(90_000) } as const
      const data = Withdrawals.view.of({
        ...row,
        ...decided,
        status: "failed",
        failure: "approval_rejected",
        updatedAtMillis: world.millis(90_000)
      })
      return { params: { withdrawalID: row.id }, message: "Withdrawal rejected", data }
    }),
  Core.Approvals,
  (approvals) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* errors.answered(approvals.reject(yield* decision(params.withdrawalID)))
      return View.answer("Withdrawal rejected", Withdrawals.view.of(row))
    })
)

/** What the section `send` has of it. */
export const operations = [approve, reject] as const
