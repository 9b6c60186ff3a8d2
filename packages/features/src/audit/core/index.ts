import { Effect } from "effect"
import * as Feature from "@satrail/core/ledger/Feature"
import type { Published } from "@satrail/core/ledger/LedgerReads"
import type { AuditHead, AuditHeadPublished } from "./AuditHead.ts"
import * as AuditLog from "./AuditLog.ts"

const updated = (record: AuditHead) => ({
  kind: "auditHead" as const,
  type: "audit_head.updated" as const,
  record
})

/**
 * Lists the audit log, records rejections, and maintains its chain. `ledger/Audit.ts` writes the entries, in
 * the commit of each Change.
 */
export const audit = Feature.make({
  name: "audit",
  changes: Feature.changes<AuditHeadPublished>(),
  // The event's subject is the head itself.
  events: { "audit_head.updated": null },
  notices: {
    kind: "auditHead",
    types: ["audit_head.updated"],
    byEvent: {
      "audit_head.updated": {
        as: ["audit_head.updated"],
        convert: ({ subject }: Published) => Effect.succeed([updated({ id: subject })])
      }
    }
  },
  roles: [AuditLog.role],
  layer: AuditLog.layer,
  workers: AuditLog.layerWorker
})
