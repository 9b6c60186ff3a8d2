import { Companies, maxReasonCharacters, reasonIssue } from "@satrail/core/accounts/Companies"
import type { Company } from "@satrail/core/accounts/Company"
import * as Core from "@satrail/core/accounts/Stops"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Freeze } from "@satrail/core/ledger/Freeze"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { changer, OperatorScopes } from "../api/Authentication.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Section from "../api/Section.ts"
import { frozen as frozenSchema, frozenOf, path as companiesPath } from "./Companies.ts"

const Since = Schema.NullOr(Scalars.Instant).annotate({
  description: "Time of the pause; null if not paused"
})
const paused = Schema.Struct({ sending: Since, receiving: Since }).annotate({ identifier: "Pauses" })
const Body = Schema.Struct({ what: Core.What }).annotate({ identifier: "Pause" })

const show = ({ sending, receiving }: Core.Standing): typeof paused.Type => ({
  sending: Scalars.instantOrNull(sending),
  receiving: Scalars.instantOrNull(receiving)
})

const get = Section.operator(
  HttpApiEndpoint.get("paused", "/operator/pause", {
    success: Envelope.success(200, paused),
    error: Errors.of("store_unavailable")
  })
    .annotate(OpenApi.Summary, "Get the pause status")
    .annotate(
      OpenApi.Description,
      "Returns the pauses that apply to all companies. Frozen companies are not listed here."
    )
    .annotate(Example, () => ({ message: "Paused", data: { sending: null, receiving: null } })),
  Core.Stops,
  (stops) => () =>
    Effect.map(Errors.answered(stops.standing), (standing) => Envelope.ok("Paused", show(standing)))
)

const pause = Section.operator(
  HttpApiEndpoint.post("pause", "/operator/pause", {
    payload: Body,
    success: Envelope.success(200, paused),
    error: Errors.of("malformed", "store_unavailable")
  })
    .annotate(OperatorScopes, ["stop"])
    .annotate(OpenApi.Summary, "Pause sending or receiving")
    .annotate(
      OpenApi.Description,
      "Pauses sending or receiving for all companies, in every process. `sending`: new withdrawals, vouchers and refunds return 503 `paused`, vouchers cannot be claimed, no payment starts, and confirmed withdrawals wait; payments already sent run to completion. `receiving`: no new invoices, checkouts, offers or on-chain addresses are created; payments to existing ones are credited. Pausing twice has no further effect."
    )
    .annotate(Example, ({ at }) => ({
      body: { what: "sending" },
      message: "Paused",
      data: { sending: at(), receiving: null }
    })),
  Core.Stops,
  (stops) =>
    ({ payload }) =>
      Effect.map(Errors.answered(stops.pause(payload.what)), (standing) =>
        Envelope.ok("Paused", show(standing))
      )
)

const resume = Section.operator(
  HttpApiEndpoint.post("resume", "/operator/resume", {
    payload: Body,
    success: Envelope.success(200, paused),
    error: Errors.of("malformed", "store_unavailable")
  })
    .annotate(OperatorScopes, ["loosen"])
    .annotate(OpenApi.Summary, "Resume sending or receiving")
    .annotate(
      OpenApi.Description,
      "Resumes sending or receiving. Waiting payments continue within seconds. Resuming when not paused has no effect."
    )
    .annotate(Example, () => ({
      body: { what: "sending" },
      message: "Resumed",
      data: { sending: null, receiving: null }
    })),
  Core.Stops,
  (stops) =>
    ({ payload }) =>
      Effect.map(Errors.answered(stops.resume(payload.what)), (standing) =>
        Envelope.ok("Resumed", show(standing))
      )
)

const Reason = Schema.String.annotate({
  description: `Reason, 1 to ${maxReasonCharacters} characters. The company sees it in its console`,
  examples: ["reported key theft"]
}).check(Scalars.stated(reasonIssue, Scalars.wordsUpTo(maxReasonCharacters)))
const Pending = Freeze.fields.pending.annotate({
  description: "How to handle confirmed withdrawals that have not started"
})

const frozen = Schema.Struct({
  id: Scalars.Uuid,
  frozen: frozenSchema
}).annotate({ identifier: "CompanyFreeze" })

const showFreeze = ({ id, frozen: how }: Pick<Company, "id" | "frozen">): typeof frozen.Type => ({
  id,
  frozen: frozenOf(how)
})

const params = { id: Scalars.Id }

const freezeExample = ({ companyId, millis }: World, how: Pick<Freeze, "reason" | "pending"> | null) =>
  showFreeze({ id: companyId, frozen: how && { ...how, sinceMillis: millis(0) } })

const freeze = Section.operator(
  HttpApiEndpoint.post("freeze", `${companiesPath}/:id/freeze`, {
    params,
    payload: Schema.Struct({ reason: Reason, pending: Pending }).annotate({ identifier: "Freeze" }),
    success: Envelope.success(200, frozen),
    error: Errors.of(
      "malformed",
      "not_found",
      "scope_required",
      "second_operator_required",
      "store_unavailable"
    )
  })
    .annotate(OperatorScopes, ["stop"])
    .annotate(OpenApi.Summary, "Freeze a company")
    .annotate(
      OpenApi.Description,
      "Freezes a company: it can read and receive, but not send. Withdrawals, vouchers and refunds return 403 `company_frozen`, and existing vouchers cannot be claimed. This applies immediately in every process. Payments already sent continue. Freezing again replaces the reason and `pending`. Changing `pending` from `wait` to `go_on` also requires the token scope `loosen`, and for a company above a configured balance, a second operator must send the same request (403 `second_operator_required`)."
    )
    .annotate(Example, (world) => {
      const body = { reason: "reported key theft", pending: "wait" as const }
      return {
        params: { id: world.companyId },
        body,
        message: "Company frozen",
        data: freezeExample(world, body)
      }
    }),
  Companies,
  (companies) =>
    Effect.fnUntraced(function* ({ params, payload }) {
      const id = CompanyId.make(params.id)
      return Envelope.ok(
        "Company frozen",
        showFreeze(yield* Errors.answered(companies.freeze(id, payload, yield* changer)))
      )
    })
)

const unfreeze = Section.operator(
  HttpApiEndpoint.post("unfreeze", `${companiesPath}/:id/unfreeze`, {
    params,
    success: Envelope.success(200, frozen),
    error: Errors.of("not_found", "second_operator_required", "store_unavailable")
  })
    .annotate(OperatorScopes, ["loosen"])
    .annotate(OpenApi.Summary, "Unfreeze a company")
    .annotate(
      OpenApi.Description,
      "Unfreezes a company. Waiting payments resume within seconds. Unfreezing a company that is not frozen has no effect. For a company above a configured balance, a second operator must send the same request (403 `second_operator_required`)."
    )
    .annotate(Example, (world) => ({
      params: { id: world.companyId },
      message: "Company unfrozen",
      data: freezeExample(world, null)
    })),
  Companies,
  (companies) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* Errors.answered(companies.unfreeze(CompanyId.make(params.id), yield* changer))
      return Envelope.ok("Company unfrozen", showFreeze(row))
    })
)

export const section = Section.make(
  "stop",
  {
    title: "Stop",
    description:
      "Pause sending or receiving for all companies, or freeze one company. Requires an operator token"
  },
  [get, pause, resume, freeze, unfreeze]
)
