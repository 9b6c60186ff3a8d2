import { Schema } from "effect"
import { CompanyId } from "../base/CompanyId.ts"

/**
 * A company's freeze: its start, its reason, and whether withdrawals that were already confirmed continue or
 * wait.
 */
export const Freeze = Schema.Struct({
  reason: Schema.String,
  pending: Schema.Literals(["wait", "go_on"]),
  sinceMillis: Schema.Int
})
export interface Freeze extends Schema.Schema.Type<typeof Freeze> {}

/** Returns whether changing the freeze to `pending` releases withdrawals that wait. */
export const loosens = (frozen: Freeze | null, pending: Freeze["pending"]): boolean =>
  frozen?.pending === "wait" && pending === "go_on"

/**
 * The company is frozen: it can neither send nor commit funds. Nothing was held. The error omits the reason,
 * which only the operator may disclose.
 */
export class CompanyFrozen extends Schema.TaggedError<CompanyFrozen>()("CompanyFrozen", {
  companyId: CompanyId
}) {}
