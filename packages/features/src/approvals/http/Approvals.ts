import * as Approval from "../core/Approval.ts"
import * as Core from "../core/Approvals.ts"
import type { Withdrawal } from "@satrail/core/sending/Withdrawal"
import { Effect } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { OperatorScopes, sender } from "@satrail/http/api/Authentication"
import * as Resource from "@satrail/http/api/Resource"
import { type World } from "@satrail/http/wire/Examples"
import * as OwnErrors from "@satrail/http/wire/OwnErrors"
import * as Section from "@satrail/http/api/Section"
import * as Withdrawals from "@satrail/http/resources/Withdrawals"

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
    meaning:
      "The withdrawal is not awaiting approval: it was approved or rejected, has expired, or never needed approval.",
    remedy: "Check its `status` and `approval`.",
    message: ({ state }: Approval.ApprovalOver) =>
      state === null
        ? "This withdrawal does not need approval."
        : `This withdrawal is not awaiting approval: ${states[state]}.`
  },
  ApprovalByAsker: {
    code: "approval_by_asker",
    status: 403,
    meaning: "The key that requested a withdrawal cannot approve it, and neither can its replacement.",
    remedy: "Approve it with a different key that has the scope `approve`. The requesting key can reject it.",
    message: (_: Approval.ApprovalByAsker) =>
      "The key or person that requested a withdrawal cannot approve it, nor can anyone linked to them by an invitation or a recovery. Someone else must approve it."
  },
  ApprovalFeeRisen: {
    code: "approval_fee_risen",
    status: 409,
    meaning:
      "The network fee is now higher than the amount held for it. Nothing changed; the withdrawal still awaits approval.",
    remedy: "Approve it after the fee has fallen, or reject it and request it again.",
    message: (_: Approval.ApprovalFeeRisen) =>
      "The network fee is now higher than the amount held for it. Approve later, or reject the withdrawal and request it again."
  }
})

const decidePath = "/v1/transactions/withdrawals/:withdrawalID"
const { resource } = Withdrawals

/** The deciding key and the withdrawal. */
const decision = (withdrawalID: string) => Effect.map(sender, (from) => ({ ...from, id: withdrawalID }))

const awaiting = (world: World): Withdrawal => ({
  ...Withdrawals.example(world).requested,
  approval: "waiting",
  approvalAskedBy: world.apiKey.id,
  approvalExpiresAtMillis: world.millis(60_000) + Approval.waitMillis
})

const decided = (world: World, approval: "approved" | "rejected"): Withdrawal => ({
  ...awaiting(world),
  approval,
  approvalBy: "9Xw4nRt2KbMd",
  approvalAtMillis: world.millis(90_000)
})

const failed = (world: World, approvalBy = "9Xw4nRt2KbMd"): Withdrawal => ({
  ...decided(world, "rejected"),
  approvalBy,
  status: "failed",
  failure: "approval_rejected",
  updatedAtMillis: world.millis(90_000)
})

const approved = "Withdrawal approved"

const approve = Section.company(
  HttpApiEndpoint.post("approve", `${decidePath}/approve`, {
    ...resource.one,
    error: errors.of(
      "not_found",
      "approval_over",
      "approval_by_asker",
      "approval_fee_risen",
      "requester_gone",
      "company_frozen",
      "limit_exceeded",
      ...Withdrawals.unpayable
    )
  }).annotateMerge(
    resource.about(
      approved,
      {
        scope: "approve",
        summary: "Approve a withdrawal",
        description:
          "Approves a withdrawal that is `pending_approval` and queues its payment. The key that requested the withdrawal cannot approve it. The destination and the limits are checked again. If the network fee now exceeds the amount held for it, or a lowered limit is exceeded, nothing changes, and you can approve later or reject. Approving twice has no further effect."
      },
      (_, world) => decided(world, "approved")
    )
  ),
  Core.Approvals,
  (approvals) =>
    resource.answers(approved, (id) => errors.answered(Effect.flatMap(decision(id), approvals.approve)))
)

const rejected = "Withdrawal rejected"

const reject = Section.company(
  HttpApiEndpoint.post("reject", `${decidePath}/reject`, {
    ...resource.one,
    error: errors.of("not_found", "approval_over", "store_unavailable")
  }).annotateMerge(
    resource.about(
      rejected,
      {
        scope: "approve",
        summary: "Reject a withdrawal",
        description:
          "Rejects a withdrawal that is `pending_approval`. It becomes `failed`, and its amount and fee are released. The key that requested the withdrawal can reject it. Rejecting twice has no further effect."
      },
      (_, world) => failed(world)
    )
  ),
  Core.Approvals,
  (approvals) =>
    resource.answers(rejected, (id) => errors.answered(Effect.flatMap(decision(id), approvals.reject)))
)

export const operations = [approve, reject] as const

const operated = Resource.make({
  path: "/operator/withdrawals",
  names: ["Withdrawal", "Withdrawals"],
  view: Withdrawals.view,
  example: awaiting
})

/** For a company that cannot reject it, and for a withdrawal that was paid after the dump from which it was restored. */
export const rejectAsOperator = Section.operator(
  HttpApiEndpoint.post("rejectWithdrawal", "/operator/withdrawals/:id/reject", {
    ...operated.one,
    error: errors.of("not_found", "approval_over", "store_unavailable")
  })
    .annotate(OperatorScopes, ["mend"])
    .annotateMerge(
      operated.about(
        rejected,
        {
          summary: "Reject a withdrawal",
          description:
            "Rejects a company's withdrawal that is `pending_approval`. It becomes `failed`, and its amount and fee are released. Rejecting twice has no further effect."
        },
        (_, world) => failed(world, "operator")
      )
    ),
  Core.Approvals,
  (approvals) => operated.answers(rejected, (id) => errors.answered(approvals.rejectAsOperator(id)))
)
