import { type DomainChecked, DomainTaken, type DomainVerified } from "@satrail/core/accounts/Domain"
import { HashMap, Option } from "effect"
import type { Kind } from "./Program.ts"

const verified: Kind<DomainVerified> = {
  before: (state, { domain, replaces, companyId }) => {
    const row = Option.getOrUndefined(HashMap.get(state.domains, domain.domain))
    if (row === undefined) return undefined
    if (row.companyId === companyId)
      return row.shownBy === "operator" || domain.shownBy === "dns" ? "again" : undefined
    const isLost =
      replaces !== null && row.companyId === replaces.companyId && row.lostAtMillis === replaces.lostAtMillis
    return isLost ? undefined : new DomainTaken({ domain: domain.domain })
  },
  move: (state, { domain }) => ({ ...state, domains: HashMap.set(state.domains, domain.domain, domain) })
}

const checked: Kind<DomainChecked> = {
  before: (state, { domain, companyId, atMillis }) => {
    const row = Option.getOrUndefined(HashMap.get(state.domains, domain))
    const isDue = row?.companyId === companyId && row.shownBy === "dns" && row.checkedAtMillis < atMillis
    return isDue ? undefined : "again"
  },
  move: (state, { domain, isShown, atMillis }) => ({
    ...state,
    domains: HashMap.modify(state.domains, domain, (row) => ({
      ...row,
      checkedAtMillis: atMillis,
      lostAtMillis: isShown ? null : (row.lostAtMillis ?? atMillis)
    }))
  })
}

export const kinds = { DomainVerified: verified, DomainChecked: checked }
