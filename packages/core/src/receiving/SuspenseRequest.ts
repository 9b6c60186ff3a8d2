import { Schema } from "effect"
import type { Operator } from "../accounts/SecondOperator.ts"
import * as CompanyId from "../base/CompanyId.ts"
import * as Noun from "../ledger/Noun.ts"
import { type Written, written } from "../ledger/Written.ts"
import type { Unmatched } from "./Invoice.ts"

/**
 * An operator's request to assign a payment in suspense to a company, until another operator sends the same
 * request. It has the payment's id.
 */
export const SuspenseRequest = Schema.Struct({
  id: Noun.Id,
  /** The company whose invoice the payment referred to. */
  companyId: CompanyId.CompanyId,
  /** The company to assign the payment to. */
  toCompanyId: CompanyId.CompanyId,
  /** The operator who requested it, as the id and name of their token. */
  requestedById: Schema.String,
  requestedBy: Schema.String,
  createdAtMillis: Schema.Int
})
export interface SuspenseRequest extends Schema.Schema.Type<typeof SuspenseRequest> {}

const terms = ["toCompanyId", "requestedById", "requestedBy"] as const

/** The audit log records its values, because a request is half of the permission to move money. */
export const noun = Noun.make("suspense_requests", SuspenseRequest, { moving: terms, recorded: ["companyId", ...terms] })

export const life = { replaced: Noun.move(noun, "replaced", { sets: terms, again: { same: terms } }) }

export interface AssignmentRequested extends Written<"AssignmentRequested", readonly [Noun.InsertOf<typeof noun>], never, never> {}
export interface AssignmentRequestReplaced extends Written<
  "AssignmentRequestReplaced",
  readonly [Noun.TransitionOf<typeof life.replaced>],
  never,
  never
> {}

const termsOf = (toCompanyId: CompanyId.CompanyId, by: Operator) => ({ toCompanyId, requestedById: by.id, requestedBy: by.name })

/** Requests the assignment of a payment. No money moves. */
export const requested = (
  { id, companyId }: Unmatched,
  to: CompanyId.CompanyId,
  by: Operator,
  createdAtMillis: number
): AssignmentRequested =>
  written("AssignmentRequested", createdAtMillis, [Noun.insert(noun, { id, companyId, ...termsOf(to, by), createdAtMillis })])

/** Replaces a request by one for another company. No money moves. */
export const replaced = (before: SuspenseRequest, to: CompanyId.CompanyId, by: Operator, atMillis: number): AssignmentRequestReplaced =>
  written("AssignmentRequestReplaced", atMillis, [Noun.step(life.replaced, before, termsOf(to, by))])
