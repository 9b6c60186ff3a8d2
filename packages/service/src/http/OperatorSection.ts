import * as ApiKeys from "@satrail/http/resources/ApiKeys"
import * as Companies from "@satrail/http/resources/Companies"
import * as CompanyFees from "@satrail/http/resources/CompanyFees"
import * as Domains from "@satrail/http/resources/Domains"
import * as Feature from "@satrail/http/api/Feature"
import { features } from "../features/http.ts"
import * as Section from "@satrail/http/api/Section"

export const section = Section.make(
  "operator",
  {
    title: "Operator",
    description:
      "Companies and their API keys, plans and domains. Requires an operator token; API keys are not accepted"
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
