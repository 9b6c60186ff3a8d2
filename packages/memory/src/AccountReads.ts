import type { AccountReads } from "@satrail/core/accounts/AccountReads"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { HashMap, Option } from "effect"
import { compare, page, type Read } from "./Reading.ts"
import * as State from "./State.ts"

export const make = (read: Read): AccountReads["Service"] => ({
  company: (id) => read((now) => HashMap.get(now.companies, id)),
  apiKey: (id) =>
    read((now) =>
      Option.map(HashMap.get(State.of(now, ApiKey.noun), id), (apiKey) => ({
        apiKey,
        plan: HashMap.getUnsafe(now.companies, apiKey.companyId).plan
      }))
    ),
  domain: (domain) => read((now) => HashMap.get(now.domains, domain)),
  domainsOf: (companyId) =>
    read((now) =>
      HashMap.toValues(now.domains)
        .filter((row) => row.companyId === companyId)
        .toSorted((a, b) => compare(a.domain, b.domain))
    ),
  domainsToCheck: (beforeMillis, after, limit) =>
    read((now) =>
      HashMap.toValues(now.domains)
        .filter((row) => row.shownBy === "dns" && row.checkedAtMillis < beforeMillis && (after === null || row.domain > after))
        .toSorted((a, b) => compare(a.domain, b.domain))
        .slice(0, limit)
    ),
  companies: (after, limit) => read((now) => page(HashMap.values(now.companies), after, limit))
})
