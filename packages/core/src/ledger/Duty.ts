import * as CompanyId from "../base/CompanyId.ts"
import * as Id from "../base/Id.ts"
import * as Change from "./Change.ts"
import type { Written } from "./Written.ts"

/** There is a role that one process at a time has: a task that never ends, of a kind of its own. */
export interface DutyBegun extends Written<"DutyBegun", readonly []> {}

/** Committed by every process that may take the role: the first one makes it, and it is due from the beginning of time. */
export const begun = (role: string, atMillis: number): DutyBegun => {
  const id = Id.named(role)
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
