import { Schema } from "effect"
import type * as Change from "./Change.ts"

/** `free` companies get random Lightning addresses on the service's domain; `paid` ones choose handle and domain. */
export const Plan = Schema.Literals(["free", "paid"])
export type Plan = typeof Plan.Type

/** An account holder. */
export const Company = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  plan: Plan,
  createdAtMillis: Schema.Int
})
export interface Company extends Schema.Schema.Type<typeof Company> {}

/** A domain whose Lightning addresses belong to one company. */
export const Domain = Schema.Struct({
  domain: Schema.String,
  companyId: Schema.String,
  verifiedAtMillis: Schema.Int
})
export interface Domain extends Schema.Schema.Type<typeof Domain> {}

/** Another company has this domain. It stays theirs. */
export class DomainTaken extends Schema.TaggedError<DomainTaken>()("DomainTaken", { domain: Schema.String }) {}

export interface CompanyOpened extends Change.Parts<"CompanyOpened"> {
  readonly company: Company
}
export interface PlanChanged extends Change.Parts<"PlanChanged"> {
  readonly plan: Plan
}
export interface DomainVerified extends Change.Parts<"DomainVerified"> {
  readonly domain: Domain
}

/** A company exists from here on, with nothing in it. */
export const opened = (company: Company, once?: Change.Once): CompanyOpened => ({
  _tag: "CompanyOpened",
  id: company.id,
  companyId: company.id,
  atMillis: company.createdAtMillis,
  legs: [],
  company,
  event: { type: "company.opened", subject: company.id },
  ...(once && { once })
})

/** What the company may do from here on. What it made under its old plan stays. */
export const planChanged = (companyId: string, plan: Plan, atMillis: number): PlanChanged => ({
  _tag: "PlanChanged",
  id: companyId,
  companyId,
  atMillis,
  legs: [],
  plan,
  event: { type: "company.plan_changed", subject: companyId }
})

/** The domain is this company's from here on. Verifying it again changes nothing. */
export const domainVerified = (domain: Domain): DomainVerified => ({
  _tag: "DomainVerified",
  id: domain.companyId,
  companyId: domain.companyId,
  atMillis: domain.verifiedAtMillis,
  legs: [],
  domain,
  event: { type: "company.domain_verified", subject: domain.companyId }
})
