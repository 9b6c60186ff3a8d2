import * as CompanyId from "../base/CompanyId.ts"
import * as Id from "../base/Id.ts"
import * as Change from "./Change.ts"
import type { Written } from "./Written.ts"

/** The roles that there are. Work for a node is a role of its own: each process may have another node. */
export const roles = [
  "chain",
  "settled payouts",
  "webhooks",
  "reconciliation",
  "domains",
  "events",
  "deliveries",
  "expiry",
  "audit",
  "wallet connect"
] as const
export type Role = (typeof roles)[number] | `settlements of ${string}`

/** There is a role that one process at a time has: a task that never ends, of a kind of its own. */
export interface DutyBegun extends Written<"DutyBegun", readonly []> {}

/** The id of its task, which is the operator's. */
export const idOf = (role: string): string => Id.named(role)

/** Committed by every process that may take the role: the first one makes it, and it is due from the beginning of time. */
export const begun = (role: string, atMillis: number): DutyBegun => {
  const id = idOf(role)
  return {
    _tag: "DutyBegun",
    id,
    companyId: CompanyId.operator,
    atMillis,
    legs: [],
    writes: [],
    jobs: [Change.enqueue({ kind: role, id, dueAtMillis: 0 })]
  }
}
