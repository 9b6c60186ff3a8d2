import { Schema } from "effect"
import { CompanyId } from "../base/CompanyId.ts"

/** Since when a company is frozen, why, and whether what it confirmed before goes on or waits. */
export const Freeze = Schema.Struct({
  reason: Schema.String,
  pending: Schema.Literals(["wait", "go_on"]),
  sinceMillis: Schema.Int
})
export interface Freeze extends Schema.Schema.Type<typeof Freeze> {}

/** Whether freezing it again with `pending` lets go what waited. */
export const loosens = (frozen: Freeze | null, pending: Freeze["pending"]): boolean => frozen?.pending === "wait" && pending === "go_on"

/** The company is frozen: no money of its leaves or is promised. Nothing was held. Why, is the operator's to say. */
export class CompanyFrozen extends Schema.TaggedError<CompanyFrozen>()("CompanyFrozen", { companyId: CompanyId }) {}
