import { Schema } from "effect"
import type { CursorMoved } from "@satrail/core/Cursor"
import * as Reads from "./Reads.ts"
import { type Kind, statement } from "./Statements.ts"

const moved: Kind<CursorMoved> = {
  // Every kind moves its cursor when it applies: this one does nothing else.
  statement: statement({ parts: ["\napplied as (select company_id, id from fresh)"], before: "null" }),
  row: () => ({}),
  refusals: {}
}

export const kinds = { CursorMoved: moved }

const valueOf = Schema.decodeUnknownSync(Schema.Struct({ value: Schema.String }))

export const reads = {
  cursor: Reads.one("Records.cursor", {
    key: { source: "text" },
    select: "select value from satrail.cursors t where t.source = a.source",
    read: (row) => valueOf(row).value,
    keyOf: (source: string) => [source]
  })
}
