import { Network } from "@satrail/bitcoin/Network"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import { Companies } from "@satrail/core/accounts/Companies"
import { defaults as Terms, Fees, routingAllowance } from "@satrail/core/accounts/Fees"
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
  frozen: Schema.Boolean.annotate({
    description: "Whether the operator has frozen this company. A frozen company cannot send"
  }),
  fees: FeesView.schema,
  ...Limited,
  api_key: Schema.Struct({ id: Schema.String, ...Limited }).annotate({
    description: "API key that made this request"
  })
}).annotate({ identifier: "Account" })

const nothing = { limits: null, remaining: null }

const get = Section.company(
  HttpApiEndpoint.get("account", "/v1/account", {
    success: Envelope.success(200, Account),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read", "receive", "send"])
    .annotate(OpenApi.Summary, "Get the account")
    .annotate(
      OpenApi.Description,
      "Returns the key's company, its network, the fees for sending, and the remaining limits of the company and the key. Requires the `read`, `receive` or `send` scope."
    )
    .annotate(Example, ({ apiKey, companyId }) => ({
      message: "Account",
      data: {
        id: companyId,
        name: "Example Ltd",
        plan: "paid",
        network: "regtest",
        frozen: false,
        fees: FeesView.of({ ...Terms.fees.paid, routingAllowance }),
        ...nothing,
        api_key: { id: apiKey.id, ...nothing }
      }
    })),
  Effect.all([ApiKeys, Companies, Fees, Installation]),
  ([apiKeys, companies, fees, { network }]) =>
    () =>
      Effect.gen(function* () {
        const { apiKey: own } = yield* Caller
        const asking = own.limits === null ? Effect.succeed([]) : apiKeys.spent(own)
        const [company, companySpent, spent] = yield* Errors.answered(
          Effect.all([companies.get(own.companyId), companies.spent(own.companyId), asking], {
            concurrency: 3
          })
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
            id: own.id,
            limits: LimitsView.of(own.limits),
            remaining: yield* LimitsView.remainingOf(own.limits, spent)
          }
        })
      })
)

/** The account section: the company as the API sees it. */
export const section = Section.make(
  "account",
  { title: "Account", description: "Company of an API key, its fees and its remaining limits" },
  [get]
)
