import { type AccountReads, maxCounted, type Standing } from "@satrail/core/accounts/AccountReads"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { HashMap, Option } from "effect"
import * as Lists from "./Lists.ts"
import { compare, newestByTime, page, type Read } from "./Reading.ts"
import * as State from "./State.ts"

const standing = (state: State.State, companyId: CompanyId.CompanyId, nowMillis: number): Standing => {
  const keys = State.ownedBy(state, ApiKey.noun, companyId)
  const seen = keys.flatMap(({ lastUsedAtMillis }) => lastUsedAtMillis ?? [])
  return {
    companyId,
    balance: State.balanceOf(state, companyId),
    keys: Math.min(maxCounted, keys.filter((key) => ApiKey.refusal(key, nowMillis) === undefined).length),
    lastSeenAtMillis: seen.length === 0 ? null : Math.max(...seen)
  }
}

export const make = (read: Read): AccountReads["Service"] => ({
  company: (id) => read((now) => HashMap.get(now.companies, id)),
  apiKey: (id) =>
    read((now) =>
      Option.map(HashMap.get(State.of(now, ApiKey.noun), id), (apiKey) => {
        const { plan, limits, fees, feesRevision } = HashMap.getUnsafe(now.companies, apiKey.companyId)
        return { apiKey, plan, companyLimits: limits, fees, feesRevision }
      })
    ),
  spent: (companyId, subject) => read((now) => State.spentBy(now, companyId, subject)),
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
        .filter(
          (row) =>
            row.shownBy === "dns" &&
            row.checkedAtMillis < beforeMillis &&
            (after === null || row.domain > after)
        )
        .toSorted((a, b) => compare(a.domain, b.domain))
        .slice(0, limit)
    ),
  companies: (after, limit) => read((now) => page(HashMap.values(now.companies), after, limit)),
  companiesAsked: (query, looks) => read((now) => Lists.companies(now, query, looks)),
  standings: (ids, nowMillis) =>
    read((now) =>
      ids.filter((id) => HashMap.has(now.companies, id)).map((id) => standing(now, id, nowMillis))
    ),
  keysOf: (companyId, before, limit) =>
    read((now) => newestByTime(State.ownedBy(now, ApiKey.noun, companyId), before, limit))
})
