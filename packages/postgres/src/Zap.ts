import type { ZapReceipted } from "@satrail/core/receiving/Zap"
import { type Kind, statement } from "./Statements.ts"

// All that becomes true is told by the parts that every kind has: the task is done, and the event is there.
const receipted: Kind<ZapReceipted> = {
  statement: statement({
    parts: () => [
      `
applied as (
  select company_id, id from fresh
)`
    ],
    before: "null"
  }),
  row: () => ({}),
  refusals: {}
}

export const kinds = { ZapReceipted: receipted }
