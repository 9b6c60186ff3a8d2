import * as Approval from "@satrail/core/sending/Approval"
import type { Withdrawal } from "@satrail/core/sending/Withdrawal"
import * as Core from "@satrail/core/sending/Withdrawals"
import { Effect } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Scopes, sender } from "../api/Authentication.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Section from "../api/Section.ts"
import * as View from "../wire/View.ts"
import * as Withdrawals from "./Withdrawals.ts"

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

export const approve = Section.company(
  HttpApiEndpoint.post("approve", `${decidePath}/approve`, {
    ...decidedBy,
    error: Errors.of(
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
  Core.Withdrawals,
  (withdrawals) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* Errors.answered(withdrawals.approve(yield* decision(params.withdrawalID)))
      return View.answer("Withdrawal approved", Withdrawals.view.of(row))
    })
)

export const reject = Section.company(
  HttpApiEndpoint.post("reject", `${decidePath}/reject`, {
    ...decidedBy,
    error: Errors.of("not_found", "approval_over", "store_unavailable")
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
  Core.Withdrawals,
  (withdrawals) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* Errors.answered(withdrawals.reject(yield* decision(params.withdrawalID)))
      return View.answer("Withdrawal rejected", Withdrawals.view.of(row))
    })
)
