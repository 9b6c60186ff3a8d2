import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { AnswerKept, AnswersForgotten } from "@satrail/core/ledger/Answer"
import { Schema } from "effect"
import * as Reads from "../statements/Reads.ts"
import { type Kind, statement } from "../statements/Statements.ts"

const forgotten: Kind<AnswersForgotten> = {
  statement: statement({
    parts: () => [
      `
forgotten as (
  delete from satrail.answers where forget_at_millis <= (select max(at_millis) from fresh)
), applied as (
  select company_id, id from fresh
)`
    ],
    before: "null"
  }),
  row: () => ({}),
  refusals: {}
}

/** The Change's only effect is that of `once`. */
const kept: Kind<AnswerKept> = { statement: statement({ parts: () => [], done: "fresh", before: "null" }), row: () => ({}), refusals: {} }

export const kinds = { AnswerKept: kept, AnswersForgotten: forgotten }

const Row = Schema.Struct({ fingerprint: Schema.String, answer: Schema.String })

export const reads = {
  answer: Reads.one("Records.answer", {
    key: { owner: "text", key: "text" },
    select: "select fingerprint, answer from satrail.answers t where t.owner = a.owner and t.key = a.key",
    read: Schema.decodeUnknownSync(Row),
    keyOf: (owner: CompanyId.CompanyId, key: string) => [owner, key]
  })
}
