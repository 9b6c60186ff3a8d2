import { Network } from "@satrail/bitcoin/Network"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import { Companies } from "@satrail/core/accounts/Companies"
import { defaults as Terms, Fees } from "@satrail/core/accounts/Fees"
import { Installation } from "@satrail/core/accounts/Installation"
import { Plan } from "@satrail/core/accounts/Plan"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Caller, Scopes } from "../api/Authentication.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example } from "../wire/Examples.ts"
import * as FeesView from "../wire/FeesView.ts"
import * as LimitsView from "../wire/LimitsView.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Section from "../api/Section.ts"

const Limited = { limits: LimitsView.schema, remaining: LimitsView.remaining }

const Account = Schema.Struct({
  id: Scalars.Uuid,
  name: Schema.String,
  plan: Plan,
  network: Network,
  frozen: Schema.Boolean.annotate({ description: "Whether the operator has frozen it: nothing of its is sent" }),
  fees: FeesView.schema,
  ...Limited,
  api_key: Schema.Struct({ id: Schema.String, ...Limited }).annotate({ description: "The key that asks" })
}).annotate({ identifier: "Account" })

const nothing = { limits: null, remaining: null }

const get = Section.company(
  HttpApiEndpoint.get("account", "/v1/account", {
    success: Envelope.success(200, Account),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read", "receive", "send"])
    .annotate(OpenApi.Summary, "Fetch the account")
    .annotate(
      OpenApi.Description,
      "Who the key belongs to, on which network; what sending costs, and what the company and this key may still send. Needs the scope `read`, `receive` or `send`."
    )
    .annotate(Example, ({ apiKey, companyId }) => ({
      message: "Account",
      data: {
        id: companyId,
        name: "Example Ltd",
        plan: "paid",
        network: "regtest",
        frozen: false,
        fees: FeesView.of({ ...Terms.fees.paid, routingAllowance: Terms.routingAllowance }),
        ...nothing,
        api_key: { id: apiKey.id, ...nothing }
      }
    })),
  Effect.all([ApiKeys, Companies, Fees, Installation]),
  ([apiKeys, companies, fees, { network }]) =>
    () =>
      Effect.gen(function* () {
        const { apiKey: own } = yield* Caller
        const [company, companySpent, { apiKey, spent }] = yield* Errors.answered(
          Effect.all([companies.get(own.companyId), companies.spent(own.companyId), apiKeys.get(own.id)], { concurrency: 3 })
        )
        return Envelope.ok("Account", {
          id: company.id,
          name: company.name,
          plan: company.plan,
          network,
          frozen: company.frozen !== null,
          fees: FeesView.of(fees.terms(company)),
          limits: LimitsView.of(company.limits),
          remaining: yield* LimitsView.remainingOf(company.limits, companySpent),
          api_key: {
            id: apiKey.id,
            limits: LimitsView.of(apiKey.limits),
            remaining: yield* LimitsView.remainingOf(apiKey.limits, spent)
          }
        })
      })
)

/** What a company is to this service. */
export const section = Section.make(
  "account",
  { title: "Account", description: "Whose the key is, what sending costs, and what is left" },
  [get]
)
