import { Companies, maxNameCharacters, nameIssue } from "@satrail/core/accounts/Companies"
import type { Company } from "@satrail/core/accounts/Company"
import type * as Limits from "@satrail/core/accounts/Limits"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Freeze } from "@satrail/core/ledger/Freeze"
import { Plan } from "@satrail/core/accounts/Plan"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { changer, OperatorScopes } from "../api/Authentication.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as Idempotency from "../wire/Idempotency.ts"
import * as LimitsView from "../wire/LimitsView.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Section from "../api/Section.ts"
import * as Member from "../wire/Member.ts"
import * as View from "../wire/View.ts"

export const path = "/operator/companies"

/** Name of a company or a key. */
export const Name = Schema.String.annotate({
  description: `1 to ${maxNameCharacters} characters, not all of them blank`,
  examples: ["Example Ltd"]
}).check(Scalars.stated(nameIssue, Scalars.wordsUpTo(maxNameCharacters)))

/** Null if the company is not frozen. */
export const frozen = Schema.NullOr(
  Schema.Struct({
    reason: Schema.String.annotate({ description: "Reason, which the company sees in its console" }),
    pending: Freeze.fields.pending.annotate({
      description: "How to handle confirmed withdrawals that have not started"
    }),
    since: Scalars.Instant
  }).annotate({ identifier: "Frozen" })
)
export const frozenOf = (how: Freeze | null): typeof frozen.Type =>
  how && { reason: how.reason, pending: how.pending, since: Scalars.instant(how.sinceMillis) }

export const view = View.make<Company>()(
  { identifier: "Company" },
  {
    id: Member.uuid((row) => row.id),
    name: [Scalars.text("Example Ltd"), (row) => row.name],
    plan: [Plan, (row) => row.plan],
    frozen: [frozen, (row) => frozenOf(row.frozen)],
    created_at: Member.instant((row) => row.createdAtMillis)
  }
)

export const example = ({ companyId, millis }: World): Company => ({
  id: companyId,
  name: "Example Ltd",
  plan: "paid",
  createdAtMillis: millis(-86_400_000),
  limits: null,
  frozen: null,
  loosening: null,
  fees: null,
  feesRevision: 0
})

const creation = Idempotency.creation(path, "Company opened", view.of)

export const open = Section.operator(
  HttpApiEndpoint.post("openCompany", path, {
    headers: Idempotency.headers,
    payload: Schema.Struct({ name: Name, plan: Plan }).annotate({ identifier: "OpenCompany" }),
    success: Envelope.success(201, view.schema),
    error: Errors.of("malformed", "idempotency_mismatch", "conflict", "store_unavailable")
  })
    .annotate(OperatorScopes, ["companies"])
    .annotate(OpenApi.Summary, "Create a company")
    .annotate(
      OpenApi.Description,
      "Creates a company with an empty balance. The company needs an API key to use the API."
    )
    .annotate(Example, (world) => {
      const row = example(world)
      return { body: { name: row.name, plan: row.plan }, message: "Company opened", data: view.of(row) }
    }),
  Companies,
  (companies) =>
    Effect.fnUntraced(function* ({ payload, headers, request }) {
      const once = yield* creation.once(request, headers["idempotency-key"], payload)
      return creation.answer(yield* Errors.answered(companies.open({ ...payload, ...once })))
    })
)

export const update = Section.operator(
  HttpApiEndpoint.patch("updateCompany", `${path}/:id`, {
    params: { id: Scalars.Id },
    payload: Schema.Struct({ plan: Schema.optionalKey(Plan) }).annotate({ identifier: "UpdateCompany" }),
    success: Envelope.success(200, view.schema),
    error: Errors.of("malformed", "not_found", "store_unavailable")
  })
    .annotate(OperatorScopes, ["companies"])
    .annotate(OpenApi.Summary, "Update a company")
    .annotate(OpenApi.Description, "Changes a company's plan. Records created under the old plan are kept.")
    .annotate(Example, (world) => {
      const row = example(world)
      return {
        params: { id: row.id },
        body: { plan: row.plan },
        message: "Company updated",
        data: view.of(row)
      }
    }),
  Companies,
  (companies) =>
    Effect.fnUntraced(function* ({ params, payload }) {
      const id = CompanyId.make(params.id)
      const { plan } = payload
      return Envelope.ok(
        "Company updated",
        view.of(
          yield* Errors.answered(plan === undefined ? companies.get(id) : companies.changePlan(id, plan))
        )
      )
    })
)

const limited = Schema.Struct({
  id: Scalars.Uuid,
  limits: LimitsView.schema,
  remaining: LimitsView.remaining
}).annotate({
  identifier: "CompanyLimits"
})

const limitedExample = ({ companyId }: World): typeof limited.Type => ({
  id: companyId,
  limits: LimitsView.of(LimitsView.read({ day_sats: 1_000_000 })),
  remaining: { hour_sats: null, day_sats: 975_000, month_sats: null, day_count: null }
})

const limitsOf = Effect.fnUntraced(function* (companies: Companies["Service"], id: CompanyId.CompanyId) {
  const { limits } = yield* Errors.answered(companies.get(id))
  const remaining = yield* LimitsView.remainingOf(limits, yield* Errors.answered(companies.spent(id)))
  return { id, limits: LimitsView.of(limits), remaining }
})

export const getLimits = Section.operator(
  HttpApiEndpoint.get("getLimits", `${path}/:id/limits`, {
    params: { id: Scalars.Id },
    success: Envelope.success(200, limited),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(OpenApi.Summary, "Get a company's limits")
    .annotate(
      OpenApi.Description,
      "Returns the sending limits for all keys of a company together, and what remains of them."
    )
    .annotate(Example, (world) => ({
      params: { id: world.companyId },
      message: "Limits",
      data: limitedExample(world)
    })),
  Companies,
  (companies) =>
    Effect.fnUntraced(function* ({ params }) {
      return Envelope.ok("Limits", yield* limitsOf(companies, CompanyId.make(params.id)))
    })
)

const limiting = {
  params: { id: Scalars.Id },
  payload: LimitsView.Body,
  success: Envelope.success(200, limited),
  error: Errors.of(
    "malformed",
    "not_found",
    "scope_required",
    "second_operator_required",
    "store_unavailable"
  )
}
const limitWith = Effect.fnUntraced(function* (
  companies: Companies["Service"],
  id: CompanyId.CompanyId,
  update: Limits.Update
) {
  yield* Errors.answered(companies.updateLimits(id, update, yield* changer))
  return Envelope.ok("Company limited", yield* limitsOf(companies, id))
})
const limitExample = (world: World) => ({
  params: { id: world.companyId },
  body: { day_sats: 1_000_000 },
  message: "Company limited",
  data: limitedExample(world)
})

export const limit = Section.operator(
  HttpApiEndpoint.put("limitCompany", `${path}/:id/limits`, limiting)
    .annotate(OperatorScopes, ["companies", "stop", "loosen"])
    .annotate(OpenApi.Summary, "Replace a company's limits")
    .annotate(
      OpenApi.Description,
      "Replaces all limits of a company, which apply to all of its keys together; `{}` removes them. Use PATCH to change individual limits. Raising or removing a limit requires the token scope `loosen`, and for a company above a configured balance, a second operator must send the same request (403 `second_operator_required`). New limits apply immediately in every process. Payments are counted from the time at which the company's first limit was set."
    )
    .annotate(Example, limitExample),
  Companies,
  (companies) =>
    ({ params, payload }) =>
      limitWith(companies, CompanyId.make(params.id), () => LimitsView.read(payload))
)

export const updateLimits = Section.operator(
  HttpApiEndpoint.patch("updateCompanyLimits", `${path}/:id/limits`, limiting)
    .annotate(OperatorScopes, ["companies", "stop", "loosen"])
    .annotate(OpenApi.Summary, "Update a company's limits")
    .annotate(
      OpenApi.Description,
      "Changes the limits you send. Omitted limits stay, and null removes a limit. Raising or removing a limit requires the token scope `loosen`, and for a company above a configured balance, a second operator must send the same request (403 `second_operator_required`)."
    )
    .annotate(Example, limitExample),
  Companies,
  (companies) =>
    ({ params, payload }) =>
      limitWith(companies, CompanyId.make(params.id), LimitsView.patched(payload))
)
