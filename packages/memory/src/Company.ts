import * as Company from "@satrail/core/accounts/Company"
import { ProtectionMoved } from "@satrail/core/accounts/Loosening"
import { Equal, HashMap } from "effect"
import { creation, type Kind } from "./Program.ts"

const opened: Kind<Company.CompanyOpened> = {
  before: (state, change) => creation(change, Company.members, state.companies, change.company),
  move: (state, { id, company }) => ({ ...state, companies: HashMap.set(state.companies, id, company) })
}

type Changing =
  | Company.PlanChanged
  | Company.CompanyLimited
  | Company.CompanyLooseningRequested
  | Company.CompanyFeesChanged
  | Company.FreezeChanged

/** Increments the revision, because the fees have changed. */
const repriced = ({ feesRevision }: Company.Company) => ({ feesRevision: feesRevision + 1 })

/** Clears the pending request to loosen limits, because it was granted or no longer applies. */
const answered = () => ({ loosening: null })

const guarded = { CompanyLimited: "limits", CompanyFeesChanged: "fees", FreezeChanged: "frozen" } as const

/** Returns whether the company's field is not what the Change expects. */
const isMoved = (
  company: Company.Company,
  { _tag, expects }: Extract<Changing, { readonly _tag: keyof typeof guarded }>
): boolean =>
  expects !== undefined && !Equal.equals(company[guarded[_tag]], Reflect.get(expects, guarded[_tag]))

/** Replaces one field of a company. */
const changed = <C extends Changing>(
  member: (change: C) => Partial<Company.Company>,
  also?: (company: Company.Company) => Partial<Company.Company>
): Kind<C> => {
  const after = (company: Company.Company, change: C) => ({ ...company, ...member(change) })
  return {
    before: (state, change) => {
      const company = HashMap.getUnsafe(state.companies, change.id)
      return Equal.equals(after(company, change), company) ? "again" : undefined
    },
    move: (state, change) =>
      "expects" in change && isMoved(HashMap.getUnsafe(state.companies, change.id), change)
        ? new ProtectionMoved({ id: change.id })
        : {
            ...state,
            companies: HashMap.modify(state.companies, change.id, (company) => ({
              ...after(company, change),
              ...also?.(company)
            }))
          }
  }
}

export const kinds = {
  CompanyOpened: opened,
  PlanChanged: changed<Company.PlanChanged>(({ plan }) => ({ plan }), repriced),
  CompanyLimited: changed<Company.CompanyLimited>(({ limits }) => ({ limits }), answered),
  CompanyLooseningRequested: changed<Company.CompanyLooseningRequested>(({ loosening }) => ({ loosening })),
  CompanyFeesChanged: changed<Company.CompanyFeesChanged>(({ fees }) => ({ fees }), repriced),
  FreezeChanged: changed<Company.FreezeChanged>(({ frozen }) => ({ frozen }), answered)
}
