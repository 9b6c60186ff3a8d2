import * as CompanyId from "../base/CompanyId.ts"
import * as Id from "../base/Id.ts"
import * as Change from "./Change.ts"
import type { Written } from "./Written.ts"

/**
 * Roles that exist in every installation. Features declare their own. There is also one role for each
 * node (processes may use different nodes) and for each consumer of events.
 */
export const roles = ["chain", "settled payouts", "reconciliation", "domains", "events", "expiry"] as const

/** Creates a role that one process holds at a time: a permanent task with its own kind. */
export interface DutyStarted extends Written<"DutyStarted", readonly []> {}

/** Returns the id of the role's task, which belongs to the operator. */
export const idOf = (role: string): string => Id.named(role)

/** Every process that may take the role commits this. The first commit creates the task, due from time 0. */
export const started = (role: string, atMillis: number): DutyStarted => {
  const id = idOf(role)
  return {
    _tag: "DutyStarted",
    ...Change.on({ id, companyId: CompanyId.operator }, atMillis),
    writes: [],
    jobs: [Change.enqueue({ kind: role, id, dueAtMillis: 0 })]
  }
}
