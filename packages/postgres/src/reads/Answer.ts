import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { AnswerKept, AnswersForgotten } from "@satrail/core/ledger/Answer"
import { Option, Schema } from "effect"
import * as Reads from "../statements/Reads.ts"
import { type Kind, statement } from "../statements/Statements.ts"

const forgotten: Kind<AnswersForgotten> = {
  statement: statement({
    columns: "most int",
    parts: () => [
      `
forgotten as (
  delete from satrail.answers where ctid = any(array(
    select ctid from satrail.answers where forget_at_millis <= (select max(at_millis) from fresh)
    order by forget_at_millis limit (select max(most) from fresh)
  ))
), applied as (
  select company_id, id from fresh
)`
    ],
    before: "null"
  }),
  row: ({ limit }) => ({ most: limit }),
  refusals: {}
}

/** The Change's only effect is that of `once`. */
const kept: Kind<AnswerKept> = {
  statement: statement({ parts: () => [], done: "fresh", before: "null" }),
  row: () => ({}),
  refusals: {}
}

export const kinds = { AnswerKept: kept, AnswersForgotten: forgotten }

const Row = Schema.Struct({
  fingerprint: Schema.String,
  meaning: Schema.NullOr(Schema.String),
  answer: Schema.String
})

export const reads = {
  expiredAnswers: Reads.mapped(
    Reads.first("Records.expiredAnswers", {
      text: "select true as found from satrail.answers where forget_at_millis <= $1::bigint order by forget_at_millis limit 1",
      values: (atMillis: number) => [String(atMillis)],
      read: () => true
    }),
    Option.isSome
  ),
  answer: Reads.one("Records.answer", {
    key: { owner: "text", key: "text" },
    select:
      "select fingerprint, meaning, answer from satrail.answers t where t.owner = a.owner and t.key = a.key",
    read: Schema.decodeUnknownSync(Row),
    keyOf: (owner: CompanyId.CompanyId, key: string) => [owner, key]
  })
}
