import * as ApiKeys from "./resources/ApiKeys.ts"
import * as Companies from "./resources/Companies.ts"
import * as CompanyFees from "./resources/CompanyFees.ts"
import * as Domains from "./resources/Domains.ts"
import * as Feature from "./features/Feature.ts"
import { features } from "./features/index.ts"
import * as Section from "./api/Section.ts"

export const section = Section.make(
  "operator",
  {
    title: "Operator",
    description: "Companies and their API keys, plans and domains. Requires an operator token; API keys are not accepted"
  },
  [
    Companies.open,
    ApiKeys.issue,
    ApiKeys.get,
    ApiKeys.limit,
    ApiKeys.updateLimits,
    ApiKeys.allowFrom,
    ApiKeys.revoke,
    ApiKeys.rotate,
    ApiKeys.approve,
    ...Feature.joined(features, "operator"),
    Companies.update,
    Companies.getLimits,
    Companies.limit,
    Companies.updateLimits,
    CompanyFees.get,
    CompanyFees.put,
    CompanyFees.patch,
    Domains.vouch
  ]
)
