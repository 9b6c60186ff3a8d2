import type { AuditHead } from "../core/AuditHead.ts"
import * as Audit from "@satrail/core/ledger/Audit"
import { Schema } from "effect"
import * as View from "@satrail/http/wire/View"

/** The signed head of the audit log, as sent to the operator's endpoints. */
export const view = View.make<AuditHead>()(
  { identifier: "AuditHead" },
  {
    head: [
      Schema.String.annotate({
        description:
          "Signed head of the audit log. Store it outside the database and pass it to `satrail verify --audit-head`",
        examples: [Audit.textOf({ ...Audit.noHead, mac: Audit.origin })]
      }),
      ({ id }) => id
    ]
  }
)
