import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { Conflict } from "@satrail/core/ledger/Journal"
import { Plan } from "@satrail/core/accounts/Plan"
import { Schema } from "effect"
import * as Reads from "./Reads.ts"
import { creation, joinTarget, type Kind, statement, target } from "./Statements.ts"
import * as Table from "./Table.ts"

const apiKeys = Table.of(ApiKey.noun)

const issued: Kind<ApiKey.ApiKeyIssued> = {
  statement: creation(apiKeys, {
    idType: "text",
    columns: "replaces text, overlap_ends_at_millis bigint",
    effects: [
      `
overlapped as (
  update satrail.api_keys t set expires_at_millis = least(t.expires_at_millis, d.overlap_ends_at_millis) from done d
  where t.company_id = d.company_id and t.id = d.replaces
)`
    ],
    // The text of a key says no company: its id is one company's alone.
    guards: "(select 'Conflict' from satrail.api_keys t where t.id = a.id)"
  }),
  row: ({ apiKey, replaces }) => ({
    ...apiKeys.toRow(apiKey),
    ...(replaces && { replaces: replaces.id, overlap_ends_at_millis: replaces.expiresAtMillis })
  }),
  identities: ({ replaces }) => (replaces === null ? [] : [replaces.id]),
  refusals: { Conflict: (change) => new Conflict({ change: change._tag, id: change.id }) }
}

const used: Kind<ApiKey.ApiKeyUsed> = {
  statement: statement({
    idType: "text",
    parts: (locks) => [
      target(apiKeys, locks),
      `
applied as (
  update satrail.api_keys t set last_used_at_millis = f.at_millis from fresh f join target g using (n)
  where t.company_id = f.company_id and t.id = f.id and coalesce(g.last_used_at_millis < f.at_millis, true) returning t.company_id, t.id
)`
    ],
    joins: joinTarget,
    before: "case when g.last_used_at_millis >= a.at_millis then 'Applied' end",
    guards: "case when g.n is null then 'missing' end"
  }),
  row: () => ({}),
  refusals: {}
}

export const kinds = { ApiKeyIssued: issued, ApiKeyUsed: used }

const planOf = Schema.decodeUnknownSync(Schema.Struct({ plan: Plan }))

export const reads = {
  apiKey: Reads.one("Records.apiKey", {
    key: { id: "text" },
    select: `
select ${apiKeys.selected}, (select plan from satrail.companies c where c.id = t.company_id) as plan
from ${apiKeys.name} t where t.id = a.id`,
    read: (row): ApiKey.Holder => ({ apiKey: apiKeys.ofRow(row), plan: planOf(row).plan }),
    keyOf: (id: string) => [id]
  })
}
