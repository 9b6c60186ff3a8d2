import { AuditLog, type Query } from "@satrail/features/audit/core/AuditLog"
import * as Http from "@satrail/features/audit/http/Audit"
import { page } from "../Pages.ts"
import type { Id, Of } from "../Sharing.ts"
import { company, listOf, period, text } from "../Fields.ts"

export const defaults = { audit: { list: [undefined, page] } } as const
export const parameters = {
  audit: { list: [company, listOf({ actorId: text, outcome: text, subject: text, verb: text, ...period })] }
} as const
export const shared = (of: Of) => ({
  audit: {
    /** Returns a page of a company's audit log, newest first. */
    list: (companyId: Id, query: Query) => of(AuditLog).list(companyId, query)
  }
})
export const views = { audit: { list: Http.view.of } } as const
