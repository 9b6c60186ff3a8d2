import * as Company from "@satrail/core/accounts/Company"
import { HashMap } from "effect"
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

export const kinds = { CompanyOpened: opened, PlanChanged: planChanged }
