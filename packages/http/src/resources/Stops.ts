import { Companies, maxReasonCharacters, reasonIssue } from "@satrail/core/accounts/Companies"
import type { Company } from "@satrail/core/accounts/Company"
import * as Core from "@satrail/core/accounts/Stops"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Freeze, loosens } from "@satrail/core/ledger/Freeze"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { mayLoosen, OperatorCaller, OperatorScopes } from "../api/Authentication.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Section from "../api/Section.ts"
import { frozen as frozenSchema, frozenOf, path as companiesPath } from "./Companies.ts"

const Since = Schema.NullOr(Scalars.Instant).annotate({ description: "Since when it is paused, null where it is not" })
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
    .annotate(OpenApi.Summary, "What is paused")
    .annotate(OpenApi.Description, "For everybody. A company that is frozen is not in here.")
    .annotate(Example, () => ({ message: "Paused", data: { sending: null, receiving: null } })),
  Core.Stops,
  (stops) => () => Effect.map(Errors.answered(stops.standing), (standing) => Envelope.ok("Paused", show(standing)))
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
      "For everybody, in every process from the answer on. `sending`: no withdrawal or voucher is taken (503 `paused`), no payment begins, and what was confirmed waits; what was sent before ends as it must. `receiving`: no new invoices and on-chain addresses; what is paid is credited. Pausing again changes nothing."
    )
    .annotate(Example, ({ at }) => ({ body: { what: "sending" }, message: "Paused", data: { sending: at(), receiving: null } })),
  Core.Stops,
  (stops) =>
    ({ payload }) =>
      Effect.map(Errors.answered(stops.pause(payload.what)), (standing) => Envelope.ok("Paused", show(standing)))
)

const resume = Section.operator(
  HttpApiEndpoint.post("resume", "/operator/resume", {
    payload: Body,
    success: Envelope.success(200, paused),
    error: Errors.of("malformed", "store_unavailable")
  })
    .annotate(OperatorScopes, ["loosen"])
    .annotate(OpenApi.Summary, "Resume sending or receiving")
    .annotate(OpenApi.Description, "Waiting payments continue within seconds. Resuming what is not paused changes nothing.")
    .annotate(Example, () => ({ body: { what: "sending" }, message: "Resumed", data: { sending: null, receiving: null } })),
  Core.Stops,
  (stops) =>
    ({ payload }) =>
      Effect.map(Errors.answered(stops.resume(payload.what)), (standing) => Envelope.ok("Resumed", show(standing)))
)

const Reason = Schema.String.annotate({
  description: `For operators, 1 to ${maxReasonCharacters} characters: the company is not told`,
  examples: ["reported key theft"]
}).check(Scalars.stated(reasonIssue, Scalars.wordsUpTo(maxReasonCharacters)))
const Pending = Freeze.fields.pending.annotate({ description: "What becomes of withdrawals that were confirmed and have not begun" })

const frozen = Schema.Struct({
  id: Scalars.Uuid,
  frozen: frozenSchema
}).annotate({ identifier: "CompanyFreeze" })

const showFreeze = ({ id, frozen: how }: Pick<Company, "id" | "frozen">): typeof frozen.Type => ({
  id,
  frozen: frozenOf(how)
})

const params = { id: Scalars.Uuid }
const idOf = (text: string) => CompanyId.make(text.toLowerCase())

const freezeExample = ({ companyId, millis }: World, how: Pick<Freeze, "reason" | "pending"> | null) =>
  showFreeze({ id: companyId, frozen: how && { ...how, sinceMillis: millis(0) } })

const freeze = Section.operator(
  HttpApiEndpoint.post("freeze", `${companiesPath}/:id/freeze`, {
    params,
    payload: Schema.Struct({ reason: Reason, pending: Pending }).annotate({ identifier: "Freeze" }),
    success: Envelope.success(200, frozen),
    error: Errors.of("malformed", "not_found", "scope_required", "second_operator_required", "store_unavailable")
  })
    .annotate(OperatorScopes, ["stop"])
    .annotate(OpenApi.Summary, "Freeze a company")
    .annotate(
      OpenApi.Description,
      "From the answer on its withdrawals and vouchers are refused with 403 `company_frozen`, and its vouchers cannot be claimed: checked in the commit, in every process. Its keys can read, and it receives. What was sent before ends as it must. Freezing again replaces the reason and `pending`. To change `pending` from `wait` to `go_on`, the token needs the scope `loosen` as well. For a company with much money, a second operator must send the same request (403 `second_operator_required`)."
    )
    .annotate(Example, (world) => {
      const body = { reason: "reported key theft", pending: "wait" as const }
      return { params: { id: world.companyId }, body, message: "Company frozen", data: freezeExample(world, body) }
    }),
  Companies,
  (companies) =>
    Effect.fnUntraced(function* ({ params, payload }) {
      const id = idOf(params.id)
      yield* mayLoosen(loosens((yield* Errors.answered(companies.get(id))).frozen, payload.pending))
      return Envelope.ok("Company frozen", showFreeze(yield* Errors.answered(companies.freeze(id, payload, yield* OperatorCaller))))
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
      "Waiting payments continue within seconds. Unfreezing a company that is not frozen changes nothing. For a company with much money, a second operator must send the same request (403 `second_operator_required`)."
    )
    .annotate(Example, (world) => ({
      params: { id: world.companyId },
      message: "Company not frozen",
      data: freezeExample(world, null)
    })),
  Companies,
  (companies) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* Errors.answered(companies.unfreeze(idOf(params.id), yield* OperatorCaller))
      return Envelope.ok("Company not frozen", showFreeze(row))
    })
)

/** The operator's brakes. */
export const section = Section.make(
  "stop",
  { title: "Stop", description: "Pause sending or receiving for everybody, and freeze a company: with the operator's token" },
  [get, pause, resume, freeze, unfreeze]
)
