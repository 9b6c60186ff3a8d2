import * as Company from "@satrail/core/accounts/Company"
import { Equal, HashMap } from "effect"
import { creation, type Kind } from "./Program.ts"

const opened: Kind<Company.CompanyOpened> = {
  before: (state, change) => creation(change, Company.members, state.companies, change.company),
  move: (state, { id, company }) => ({ ...state, companies: HashMap.set(state.companies, id, company) })
}

const planChanged: Kind<Company.PlanChanged> = {
  before: (state, { id, plan }) => (HashMap.getUnsafe(state.companies, id).plan === plan ? "again" : undefined),
  move: (state, { id, plan }) => ({
    ...state,
    companies: HashMap.modify(state.companies, id, (company) => ({ ...company, plan }))
  })
}

const limited: Kind<Company.CompanyLimited> = {
  before: (state, { id, limits }) => (Equal.equals(HashMap.getUnsafe(state.companies, id).limits, limits) ? "again" : undefined),
  move: (state, { id, limits }) => ({
    ...state,
    companies: HashMap.modify(state.companies, id, (company) => ({ ...company, limits }))
  })
}

export const kinds = { CompanyOpened: opened, PlanChanged: planChanged, CompanyLimited: limited }
