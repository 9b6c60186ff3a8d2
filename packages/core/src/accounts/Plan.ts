import { Schema } from "effect"

/**
 * `free` companies get random Lightning addresses on the service's domain. `paid` companies choose the handle
 * and domain.
 */
export const Plan = Schema.Literals(["free", "paid"])
export type Plan = typeof Plan.Type

/** The company's plan does not include this. */
export class PlanRequired extends Schema.TaggedError<PlanRequired>()("PlanRequired", {
  plan: Schema.String,
  feature: Schema.String
}) {}
