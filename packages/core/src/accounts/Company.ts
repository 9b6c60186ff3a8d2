import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import type * as Change from "../ledger/Change.ts"
import type { Conflict, IdempotencyMismatch } from "../ledger/Journal.ts"
import { Freeze } from "../ledger/Freeze.ts"
import * as Noun from "../ledger/Noun.ts"
import { CompanyFees } from "./CompanyFees.ts"
import { Limits } from "./Limits.ts"
import { Loosening } from "./Loosening.ts"
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
  frozen: Schema.NullOr(Freeze),
  /** What an operator asked to loosen, until a second one asks for the same, or its limits or its freeze change. */
  loosening: Schema.NullOr(Loosening),
  /** What it pays in place of what its plan says, null where it is all as in the plan. */
  fees: Schema.NullOr(CompanyFees),
  /** How often its plan or its fees were changed: what holds money says by which of them, and is refused where they are others by then. */
  feesRevision: Schema.Int
})
export interface Company extends Schema.Schema.Type<typeof Company> {}

/**
 * A company that sends: what its fees hang on, and its limits, where it has any. Without `fees` and `feesRevision` it is one whose fees were never changed: where
 * they were, it is charged them nevertheless, and one read slower.
 */
export type Sender = Pick<Company, "id" | "plan"> & Partial<Pick<Company, "limits" | "fees" | "feesRevision">>

export const members = Noun.members(
  "companies",
  Company,
  ["plan", "limits", "frozen", "loosening", "fees", "feesRevision"],
  ["name", "plan", "limits", "frozen", "loosening", "fees"]
)

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
/** An operator asked to loosen its limits or its freeze. */
export interface CompanyLooseningRequested extends Change.Parts<"CompanyLooseningRequested"> {
  readonly loosening: Loosening
}
export interface CompanyFeesChanged extends Change.Parts<"CompanyFeesChanged"> {
  readonly fees: CompanyFees | null
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
  recorded: [{ noun: members, id: company.id, before: null, after: company }],
  event: { type: "company.opened", subject: company.id },
  ...(once && { once })
})

/** What the audit log says: the company as it was found, and as it becomes. */
const changedIn = (found: Company | undefined, change: Partial<Company>) =>
  found === undefined
    ? {}
    : { recorded: [{ noun: members, id: found.id, before: found, after: { ...found, ...change }, sets: new Set(Object.keys(change)) }] }

/** What the company may do from here on. What it made under its old plan stays. */
export const planChanged = (companyId: CompanyId.CompanyId, plan: Plan, atMillis: number, found?: Company): PlanChanged => ({
  _tag: "PlanChanged",
  id: companyId,
  companyId,
  atMillis,
  legs: [],
  ...changedIn(found, { plan }),
  plan,
  event: { type: "company.plan_changed", subject: companyId }
})

/** The company may send so much from here on. What it has sent stays counted, from when it first had limits. */
export const limited = (companyId: CompanyId.CompanyId, limits: Limits | null, atMillis: number, found?: Company): CompanyLimited => ({
  _tag: "CompanyLimited",
  id: companyId,
  companyId,
  atMillis,
  legs: [],
  ...changedIn(found, { limits, loosening: null }),
  limits
})

/** A second operator has to ask for the same. */
export const looseningRequested = (found: Company, loosening: Loosening, atMillis: number): CompanyLooseningRequested => ({
  _tag: "CompanyLooseningRequested",
  id: found.id,
  companyId: found.id,
  atMillis,
  legs: [],
  ...changedIn(found, { loosening }),
  loosening
})

/** The company pays this from here on, in place of what its plan says. What was confirmed keeps its fee. */
export const feesChanged = (
  companyId: CompanyId.CompanyId,
  fees: CompanyFees | null,
  atMillis: number,
  found?: Company
): CompanyFeesChanged => ({
  _tag: "CompanyFeesChanged",
  id: companyId,
  companyId,
  atMillis,
  legs: [],
  ...changedIn(found, { fees }),
  fees
})

/** From here on the company is frozen, or is not any more. Whoever commits for it meanwhile is before that or after it. */
export const freezeChanged = (companyId: CompanyId.CompanyId, frozen: Freeze | null, atMillis: number, found?: Company): FreezeChanged => ({
  _tag: "FreezeChanged",
  id: companyId,
  companyId,
  atMillis,
  legs: [],
  ...changedIn(found, { frozen, loosening: null }),
  frozen
})
