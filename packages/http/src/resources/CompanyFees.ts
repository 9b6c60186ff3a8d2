import type { CompanyFees } from "@satrail/core/accounts/CompanyFees"
import { Companies } from "@satrail/core/accounts/Companies"
import type { Company } from "@satrail/core/accounts/Company"
import * as Core from "@satrail/core/accounts/Fees"
import { Plan } from "@satrail/core/accounts/Plan"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { OperatorScopes } from "../api/Authentication.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as FeesView from "../wire/FeesView.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Section from "../api/Section.ts"
import * as Opened from "./Companies.ts"

const path = `${Opened.path}/:id/fees` as const

const Fees = Schema.Struct({
  id: Scalars.Uuid,
  plan: Plan,
  fees: FeesView.schema,
  own: FeesView.own
}).annotate({ identifier: "CompanyFees" })

const view = (company: Pick<Company, "id" | "plan" | "fees">, terms: Core.Terms): typeof Fees.Type => ({
  id: company.id,
  plan: company.plan,
  fees: FeesView.of(terms),
  own: FeesView.ofOwn(company.fees)
})

const exampleOwn: CompanyFees = { lightning: { baseMsat: 0, partsPerMillion: 1000 } }

const example = (world: World) => {
  const company = { ...Opened.example(world), fees: exampleOwn }
  const { fees } = Core.defaults
  const lightning = { ...fees[company.plan].lightning, partsPerMillion: 1000n }
  return view(company, { ...fees[company.plan], lightning, routingAllowance: Core.routingAllowance })
}

const services = Effect.all([Companies, Core.Fees])

const answer = <E extends Errors.ServiceError>(
  message: string,
  fees: Core.Fees["Service"],
  read: Effect.Effect<Company, E>
) => Effect.map(Errors.answered(read), (company) => Envelope.ok(message, view(company, fees.terms(company))))

export const get = Section.operator(
  HttpApiEndpoint.get("getFees", path, {
    params: { id: Scalars.Id },
    success: Envelope.success(200, Fees),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(OpenApi.Summary, "Get a company's fees")
    .annotate(OpenApi.Description, "Returns a company's fees, and which of them differ from its plan.")
    .annotate(Example, (world) => ({
      params: { id: world.companyId },
      message: "Fees",
      data: example(world)
    })),
  services,
  ([{ get }, fees]) =>
    ({ params }) =>
      answer("Fees", fees, get(CompanyId.make(params.id)))
)

const charging = {
  params: { id: Scalars.Id },
  payload: FeesView.Body,
  success: Envelope.success(200, Fees),
  error: Errors.of("malformed", "not_found", "store_unavailable")
}
const chargeExample = (world: World) => ({
  params: { id: world.companyId },
  body: { lightning: { parts_per_million: 1000 } },
  message: "Company charged",
  data: example(world)
})

export const put = Section.operator(
  HttpApiEndpoint.put("chargeCompany", path, charging)
    .annotate(OperatorScopes, ["companies"])
    .annotate(OpenApi.Summary, "Replace a company's custom fees")
    .annotate(
      OpenApi.Description,
      "Replaces all custom fees of a company; `{}` removes them, so that its plan's fees apply. Use PATCH to change individual fees. New fees apply immediately, in every process, to withdrawals confirmed afterward. Confirmed withdrawals keep their fee."
    )
    .annotate(Example, chargeExample),
  services,
  ([{ charge }, fees]) =>
    ({ params, payload }) =>
      answer("Company charged", fees, charge(CompanyId.make(params.id), FeesView.read(payload)))
)

export const patch = Section.operator(
  HttpApiEndpoint.patch("updateCompanyFees", path, charging)
    .annotate(OperatorScopes, ["companies"])
    .annotate(OpenApi.Summary, "Update a company's custom fees")
    .annotate(
      OpenApi.Description,
      "Changes the custom fees you send. Omitted rates and omitted parts of a rate stay; null removes a rate, so that the plan's rate applies. Confirmed withdrawals keep their fee."
    )
    .annotate(Example, chargeExample),
  services,
  ([{ updateFees }, fees]) =>
    ({ params, payload }) =>
      answer("Company charged", fees, updateFees(CompanyId.make(params.id), FeesView.patched(payload)))
)
