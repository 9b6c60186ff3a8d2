import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Noun from "../ledger/Noun.ts"
import { type Written, written } from "../ledger/Written.ts"
import type { Scope } from "./OperatorToken.ts"
import { type Operator, waitMillis } from "./SecondOperator.ts"

/** The actions that take two operators, with the scope that both need. */
export const scopes = { assign: "mend", release: "all" } as const satisfies Readonly<Record<string, Scope>>

/**
 * An operator's request for an action, which another operator must confirm. It has the id and company of the record
 * that the action is about: a payment in suspense to assign, or a withdrawal to release.
 */
export const OperatorRequest = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  action: Schema.Literals(["assign", "release"]),
  /** The company to assign the payment to; null for a release. */
  toCompanyId: Schema.NullOr(CompanyId.CompanyId),
  /** The operator who requested it, as the id and name of their token. */
  requestedById: Schema.String,
  requestedBy: Schema.String,
  /** Time from which it no longer counts. */
  untilMillis: Schema.Int
})
export interface OperatorRequest extends Schema.Schema.Type<typeof OperatorRequest> {}

/** An action, without the operator who requests it. */
export interface Wanted extends Pick<OperatorRequest, "id" | "companyId" | "action" | "toCompanyId"> {}

const terms = ["action", "toCompanyId", "requestedById", "requestedBy", "untilMillis"] as const

/** The audit log records its values, because a request is half of the permission to move money. */
export const noun = Noun.make("operator_requests", OperatorRequest, {
  moving: terms,
  recorded: ["companyId", ...terms]
})

export const life = { replaced: Noun.move(noun, "replaced", { sets: terms, again: { same: terms } }) }

export interface OperatorRequestCreated extends Written<
  "OperatorRequestCreated",
  readonly [Noun.InsertOf<typeof noun>],
  never,
  never
> {}
export interface OperatorRequestReplaced extends Written<
  "OperatorRequestReplaced",
  readonly [Noun.TransitionOf<typeof life.replaced>],
  never,
  never
> {}

const requestOf = (
  { id, companyId, action, toCompanyId }: Wanted,
  by: Operator,
  atMillis: number
): OperatorRequest => ({
  id,
  companyId,
  action,
  toCompanyId,
  requestedById: by.id,
  requestedBy: by.name,
  untilMillis: atMillis + waitMillis
})

/** Requests an action. No money moves. */
export const created = (wanted: Wanted, by: Operator, atMillis: number): OperatorRequestCreated =>
  written("OperatorRequestCreated", atMillis, [Noun.insert(noun, requestOf(wanted, by, atMillis))])

/** Replaces a request that no longer counts, or one for another action. No money moves. */
export const replaced = (
  before: OperatorRequest,
  wanted: Wanted,
  by: Operator,
  atMillis: number
): OperatorRequestReplaced =>
  written("OperatorRequestReplaced", atMillis, [
    Noun.step(life.replaced, before, requestOf(wanted, by, atMillis))
  ])
