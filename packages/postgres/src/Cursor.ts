import type { CursorMoved } from "@satrail/core/ledger/Cursor"
import type { DutyBegun } from "@satrail/core/ledger/Duty"
import { Schema } from "effect"
import * as Reads from "./Reads.ts"
import { type Kind, statement } from "./Statements.ts"

// Every kind moves its cursor and begins its task when it applies: these do nothing else.
const bare: Kind<CursorMoved | DutyBegun> = {
  statement: statement({ parts: () => ["\napplied as (select company_id, id from fresh)"], before: "null" }),
  row: () => ({}),
  refusals: {}
}

export const kinds = { CursorMoved: bare, DutyBegun: bare }

const valueOf = Schema.decodeUnknownSync(Schema.Struct({ value: Schema.String }))

export const reads = {
  cursor: Reads.one("Records.cursor", {
    key: { source: "text" },
    select: "select value from satrail.cursors t where t.source = a.source",
    read: (row) => valueOf(row).value,
    keyOf: (source: string) => [source]
  })
}
