import { Schema } from "effect"
import * as Reads from "../statements/Reads.ts"

const valueOf = Schema.decodeUnknownSync(Schema.Struct({ value: Schema.String }))

export const reads = {
  cursor: Reads.one("Records.cursor", {
    key: { source: "text" },
    select: "select value from satrail.cursors t where t.source = a.source",
    read: (row) => valueOf(row).value,
    keyOf: (source: string) => [source]
  })
}
