import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import type * as Change from "../ledger/Change.ts"
import type { Conflict, IdempotencyMismatch } from "../ledger/Journal.ts"
import { Freeze } from "../ledger/Freeze.ts"
import * as Noun from "../ledger/Noun.ts"
import { Limits } from "./Limits.ts"
import { Plan } from "./Plan.ts"

/** An account holder. */
export const Company = Schema.Struct({
  id: CompanyId.CompanyId,
  name: Schema.String,
  plan: Plan,
  createdAtMillis: Schema.Int,
  /** What it may send, by whichever key. */
  limits: Schema.NullOr(Limits),
  /** Since when it is frozen, null where it is not. */
  frozen: Schema.NullOr(Freeze)
})
export interface Company extends Schema.Schema.Type<typeof Company> {}

/** A company that sends: what its fees hang on, and its limits, where it has any. */
export type Sender = Pick<Company, "id" | "plan"> & Partial<Pick<Company, "limits">>

export const members = Noun.members("companies", Company, ["plan", "limits", "frozen"])
/** Which companies, the newest first by id, which is made of the time: those before `before` (exclusive; null for the first page). */
export interface Query {
  readonly limit: number
  readonly before: string | null
  /** The beginning of an id, or a part of a name in any letter case. */
  readonly text?: string
  readonly plan?: Plan
}

/** Whether a company is one that was asked for. */
export const isAsked = ({ id, name, plan }: Company, { text, plan: of }: Query): boolean =>
  (text === undefined || id.startsWith(text.toLowerCase()) || name.toLowerCase().includes(text.toLowerCase())) &&
  (of === undefined || of === plan)

export interface CompanyOpened extends Change.Parts<"CompanyOpened", Conflict | IdempotencyMismatch> {
  readonly company: Company
}
export interface PlanChanged extends Change.Parts<"PlanChanged"> {
  readonly plan: Plan
}
export interface FreezeChanged extends Change.Parts<"FreezeChanged"> {
  readonly frozen: Freeze | null
}
export interface CompanyLimited extends Change.Parts<"CompanyLimited"> {
  readonly limits: Limits | null
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
export const planChanged = (companyId: CompanyId.CompanyId, plan: Plan, atMillis: number): PlanChanged => ({
  _tag: "PlanChanged",
  id: companyId,
  companyId,
  atMillis,
  legs: [],
  plan,
  event: { type: "company.plan_changed", subject: companyId }
})

/** The company may send so much from here on. What it has sent stays counted, from when it first had limits. */
export const limited = (companyId: CompanyId.CompanyId, limits: Limits | null, atMillis: number): CompanyLimited => ({
  _tag: "CompanyLimited",
  id: companyId,
  companyId,
  atMillis,
  legs: [],
  limits
})

/** From here on the company is frozen, or is not any more. Whoever commits for it meanwhile is before that or after it. */
export const freezeChanged = (companyId: CompanyId.CompanyId, frozen: Freeze | null, atMillis: number): FreezeChanged => ({
  _tag: "FreezeChanged",
  id: companyId,
  companyId,
  atMillis,
  legs: [],
  frozen
})
