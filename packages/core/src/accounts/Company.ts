import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Change from "../ledger/Change.ts"
import type { Conflict, IdempotencyMismatch } from "../ledger/Journal.ts"
import { Freeze } from "../ledger/Freeze.ts"
import * as Noun from "../ledger/Noun.ts"
import { CompanyFees } from "./CompanyFees.ts"
import { Limits } from "./Limits.ts"
import { Loosening, type ProtectionMoved } from "./Loosening.ts"
import { Plan } from "./Plan.ts"

/** An account holder. */
export const Company = Schema.Struct({
  id: CompanyId.CompanyId,
  name: Schema.String,
  plan: Plan,
  createdAtMillis: Schema.Int,
  /** The company's sending limits, for all its keys together. */
  limits: Schema.NullOr(Limits),
  /** The company's freeze; null if it is not frozen. */
  frozen: Schema.NullOr(Freeze),
  /**
   * An operator's pending request to loosen the limits or the freeze. Cleared when a second operator sends the
   * same request, or when the limits or the freeze change.
   */
  loosening: Schema.NullOr(Loosening),
  /** Fees that replace those of its plan; null if there are none. */
  fees: Schema.NullOr(CompanyFees),
  /**
   * Number of times its plan or fees have changed. A Change that holds funds carries the revision it used, and
   * is refused if the revision has changed.
   */
  feesRevision: Schema.Int
})
export interface Company extends Schema.Schema.Type<typeof Company> {}

/**
 * The fields of a sending company that determine its fees and limits. Without `fees` and `feesRevision`, the
 * fees are assumed to be unchanged. If they have changed, the correct fees are still charged, at the cost of
 * one more read.
 */
export type Sender = Pick<Company, "id" | "plan"> & Partial<Pick<Company, "limits" | "fees" | "feesRevision">>

export const members = Noun.members(
  "companies",
  Company,
  ["plan", "limits", "frozen", "loosening", "fees", "feesRevision"],
  ["name", "plan", "limits", "frozen", "loosening", "fees"]
)

/**
 * Selects companies before `before` (exclusive; null for the first page), newest first by id. Ids start with
 * the creation time.
 */
export interface Query {
  readonly limit: number
  readonly before: string | null
  /** The start of an id, or a part of a name, ignoring case. */
  readonly text?: string
  readonly plan?: Plan
  readonly status?: "frozen"
}

/** Returns whether a company matches the query. */
export const isAsked = ({ id, name, plan, frozen }: Company, { text, plan: of, status }: Query): boolean =>
  (text === undefined ||
    id.startsWith(text.toLowerCase()) ||
    name.toLowerCase().includes(text.toLowerCase())) &&
  (of === undefined || of === plan) &&
  (status === undefined || frozen !== null)

export interface CompanyOpened extends Change.Parts<"CompanyOpened", Conflict | IdempotencyMismatch> {
  readonly company: Company
}
export interface PlanChanged extends Change.Parts<"PlanChanged"> {
  readonly plan: Plan
}
export interface FreezeChanged extends Change.Parts<"FreezeChanged", ProtectionMoved> {
  readonly frozen: Freeze | null
  /** If set, the change is refused if the company's freeze is another one. */
  readonly expects?: Pick<Company, "frozen">
}
/** An operator asked to loosen its limits or freeze. */
export interface CompanyLooseningRequested extends Change.Parts<"CompanyLooseningRequested"> {
  readonly loosening: Loosening
}
export interface CompanyFeesChanged extends Change.Parts<"CompanyFeesChanged", ProtectionMoved> {
  readonly fees: CompanyFees | null
  /** If set, the change is refused if the company has other custom fees. */
  readonly expects?: Pick<Company, "fees">
}
export interface CompanyLimited extends Change.Parts<"CompanyLimited", ProtectionMoved> {
  readonly limits: Limits | null
  /** If set, the change is refused if the company has other limits. */
  readonly expects?: Pick<Company, "limits">
}

/** Creates a company with a zero balance. */
export const opened = (company: Company, once?: Change.Once): CompanyOpened => ({
  _tag: "CompanyOpened",
  ...Change.on({ id: company.id, companyId: company.id }, company.createdAtMillis),
  company,
  recorded: [{ noun: members, id: company.id, before: null, after: company }],
  event: { type: "company.opened", subject: company.id },
  ...(once && { once })
})

/** Returns the company before and after a change, for the audit log. Without `found`, the log lacks the values before. */
const changedIn = (id: CompanyId.CompanyId, found: Company | undefined, change: Partial<Company>) => ({
  recorded: [
    {
      noun: members,
      id,
      before: found ?? null,
      after: { ...found, ...change },
      sets: new Set(Object.keys(change))
    }
  ]
})

/** Changes a company's plan. Records created under the old plan are unchanged. */
export const planChanged = (
  companyId: CompanyId.CompanyId,
  plan: Plan,
  atMillis: number,
  found?: Company
): PlanChanged => ({
  _tag: "PlanChanged",
  ...Change.on({ id: companyId, companyId }, atMillis),
  ...changedIn(companyId, found, { plan }),
  plan,
  event: { type: "company.plan_changed", subject: companyId }
})

/** Changes a company's limits. Spending since the company first had limits still counts. */
export const limited = (
  companyId: CompanyId.CompanyId,
  limits: Limits | null,
  atMillis: number,
  found?: Company
): CompanyLimited => ({
  _tag: "CompanyLimited",
  ...Change.on({ id: companyId, companyId }, atMillis),
  ...changedIn(companyId, found, { limits, loosening: null }),
  limits
})

/** Stores a request to loosen the company's limits or freeze. A second operator must repeat it. */
export const looseningRequested = (
  found: Company,
  loosening: Loosening,
  atMillis: number
): CompanyLooseningRequested => ({
  _tag: "CompanyLooseningRequested",
  ...Change.on({ id: found.id, companyId: found.id }, atMillis),
  ...changedIn(found.id, found, { loosening }),
  loosening
})

/** Changes the company's custom fees. Confirmed withdrawals keep their fees. */
export const feesChanged = (
  companyId: CompanyId.CompanyId,
  fees: CompanyFees | null,
  atMillis: number,
  found?: Company
): CompanyFeesChanged => ({
  _tag: "CompanyFeesChanged",
  ...Change.on({ id: companyId, companyId }, atMillis),
  ...changedIn(companyId, found, { fees }),
  fees
})

/**
 * Freezes or unfreezes a company. A concurrent Change for the company commits either before or after it.
 */
export const freezeChanged = (
  companyId: CompanyId.CompanyId,
  frozen: Freeze | null,
  atMillis: number,
  found?: Company
): FreezeChanged => ({
  _tag: "FreezeChanged",
  ...Change.on({ id: companyId, companyId }, atMillis),
  ...changedIn(companyId, found, { frozen, loosening: null }),
  frozen
})
