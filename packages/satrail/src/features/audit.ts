import { AuditLog, type Query } from "@satrail/core/features/audit/AuditLog"
import * as Http from "@satrail/http/features/audit/Audit"
import { listed, page } from "../Pages.ts"
import type { Id, Of } from "../Sharing.ts"

export const defaults = { audit: { list: [undefined, page] } } as const
export const options = {
  audit: { list: [undefined, `${listed} actorId from outcome subject until verb`] }
} as const
export const shared = (of: Of) => ({
  audit: {
    /** Returns a page of a company's audit log, newest first. */
    list: (companyId: Id, query: Query) => of(AuditLog).list(companyId, query)
  }
})
export const views = { audit: { list: Http.view.of } } as const
