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
  waiting: "a decision is in progress",
  approved: "it was approved",
  rejected: "it was rejected",
  expired: "nobody approved it in time"
} as const

export const errors = OwnErrors.make({
  ApprovalOver: {
    code: "approval_over",
    status: 409,
    meaning: "The withdrawal is not awaiting approval: it was approved or rejected, has expired, or never needed approval.",
    remedy: "Check its `status` and `approval`.",
    message: ({ state }: Approval.ApprovalOver) =>
      state === null ? "This withdrawal does not need approval." : `This withdrawal is not awaiting approval: ${states[state]}.`
  },
  ApprovalByAsker: {
    code: "approval_by_asker",
    status: 403,
    meaning: "The key that requested a withdrawal cannot approve it, and neither can its replacement.",
    remedy: "Approve it with a different key that has the scope `approve`. The requesting key can reject it.",
    message: (_: Approval.ApprovalByAsker) => "The key that requested a withdrawal cannot approve it. Use a different key."
  },
  ApprovalFeeRisen: {
    code: "approval_fee_risen",
    status: 409,
    meaning: "The network fee is now higher than the amount held for it. Nothing changed; the withdrawal still awaits approval.",
    remedy: "Approve it after the fee has fallen, or reject it and request it again.",
    message: (_: Approval.ApprovalFeeRisen) =>
      "The network fee is now higher than the amount held for it. Approve later, or reject the withdrawal and request it again."
  }
})

const decidePath = "/v1/transactions/withdrawals/:withdrawalID"
const decidedBy = { params: { withdrawalID: Scalars.Id }, success: Envelope.success(200, Withdrawals.view.schema) }

/** The deciding key and the withdrawal. */
const decision = (withdrawalID: string) => Effect.map(sender, (from) => ({ ...from, id: withdrawalID }))

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
      "company_frozen",
      "limit_exceeded",
      ...Withdrawals.unpayable
    )
  })
    .annotate(Scopes, ["approve"])
    .annotate(OpenApi.Summary, "Approve a withdrawal")
    .annotate(
      OpenApi.Description,
      "Approves a withdrawal that is `pending_approval` and queues its payment. The key that requested the withdrawal cannot approve it. The destination and the limits are checked again. If the network fee now exceeds the amount held for it, or a lowered limit is exceeded, nothing changes, and you can approve later or reject. Approving twice has no further effect. Requires the `approve` scope."
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
      "Rejects a withdrawal that is `pending_approval`. It becomes `failed`, and its amount and fee are released. The key that requested the withdrawal can reject it. Rejecting twice has no further effect. Requires the `approve` scope."
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

/** Operations in the section `send`. */
export const operations = [approve, reject] as const
