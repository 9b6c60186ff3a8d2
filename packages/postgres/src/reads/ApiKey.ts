import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { Conflict } from "@satrail/core/ledger/Journal"
import { Limits } from "@satrail/core/accounts/Limits"
import { ProtectionMoved } from "@satrail/core/accounts/Loosening"
import type { Position } from "@satrail/core/ledger/Page"
import { CompanyFees } from "@satrail/core/accounts/CompanyFees"
import { Plan } from "@satrail/core/accounts/Plan"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Limit from "@satrail/core/ledger/Limit"
import { Schema } from "effect"
import * as Reads from "../statements/Reads.ts"
import { joinTarget, type Kind, own, sameAsAsked, statement, target } from "../statements/Statements.ts"
import * as Table from "../statements/Table.ts"

const apiKeys = Table.of(ApiKey.noun)

const replacing = "replaces text, overlap_ends_at_millis bigint"

/** The replaced key expires at this time, unless it expires earlier. */
const overlapped = `
overlapped as (
  update satrail.api_keys t set expires_at_millis = least(t.expires_at_millis, d.overlap_ends_at_millis) from done d
  where t.company_id = d.company_id and t.id = d.replaces
)`

const rowOf = (replaces: ApiKey.Replaces | null) =>
  replaces && { replaces: replaces.id, overlap_ends_at_millis: replaces.expiresAtMillis }

const waits = "g.approval is not null and g.approved_at_millis is null and g.revoked_at_millis is null"

/** The restrictions of the replaced keys, read under their locks. */
const replaced = `
replaced as materialized (
  select a.n, t.limits, t.allowed_from from (select n, company_id, replaces from asked order by company_id, replaces) a
  cross join lateral (
    select limits, allowed_from from satrail.api_keys r where r.company_id = a.company_id and r.id = a.replaces for no key update
  ) t
)`

/** True if the replaced key has the restrictions that the Change `of` expects. The same value can be different JSON text. */
const isUnmoved = (of: string, expects = "true") => `(not exists (
  select from replaced r where r.n = ${of}.n and ${expects}
  and (r.limits::jsonb, r.allowed_from::jsonb) is distinct from (${of}.limits::jsonb, ${of}.allowed_from::jsonb)
))`

const moved = { ProtectionMoved: ({ id }: { readonly id: string }) => new ProtectionMoved({ id }) }

const issued: Kind<ApiKey.ApiKeyIssued> = {
  statement: statement({
    idType: "text",
    columns: `${own(apiKeys)}, ${replacing}`,
    parts: () => [
      replaced,
      `
applied as (
  insert into ${apiKeys.name} (${apiKeys.columns}) select ${apiKeys.columns} from fresh f where ${isUnmoved("f")} order by company_id, id
  on conflict do nothing returning company_id, id
)`
    ],
    effects: [overlapped],
    before: sameAsAsked(apiKeys, "Conflict"),
    // A key's text contains no company, so its id must be unique across companies.
    guards: `case when exists (select from satrail.api_keys t where t.id = a.id) then 'Conflict' when not (${isUnmoved("a")}) then 'ProtectionMoved' end`
  }),
  row: ({ apiKey, replaces }) => ({ ...apiKeys.toRow(apiKey), ...rowOf(replaces) }),
  identities: ({ replaces }) => (replaces === null ? [] : [replaces.id]),
  refusals: { Conflict: (change) => new Conflict({ change: change._tag, id: change.id }), ...moved }
}

const approved: Kind<ApiKey.ApiKeyApproved> = {
  statement: statement({
    idType: "text",
    columns: `approved_by text, ${replacing}, expects boolean, limits json, allowed_from json`,
    parts: (locks) => [
      target(apiKeys, locks),
      replaced,
      `
applied as (
  update satrail.api_keys t set approved_by = f.approved_by, approved_at_millis = f.at_millis from fresh f join target g using (n)
  where t.company_id = f.company_id and t.id = f.id and ${waits} and ${isUnmoved("f", "f.expects")} returning t.company_id, t.id
)`
    ],
    effects: [overlapped],
    joins: joinTarget,
    before: `case when not (${waits}) then 'Applied' end`,
    guards: `case when g.n is null then 'missing' when not (${isUnmoved("a", "a.expects")}) then 'ProtectionMoved' end`
  }),
  row: ({ approvedBy, replaces, expects }) => ({
    approved_by: approvedBy,
    ...rowOf(replaces),
    expects: expects !== undefined,
    ...(expects && { limits: expects.limits, allowed_from: expects.allowedFrom })
  }),
  identities: ({ replaces }) => (replaces === null ? [] : [replaces.id]),
  refusals: moved
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

export const kinds = { ApiKeyIssued: issued, ApiKeyApproved: approved, ApiKeyUsed: used }

const ofCompany = Schema.decodeUnknownSync(
  Schema.Struct({
    plan: Plan,
    companyLimits: Schema.NullOr(Schema.fromJsonString(Limits)),
    fees: Schema.NullOr(Schema.fromJsonString(CompanyFees)),
    feesRevision: Schema.FiniteFromString
  })
)

const spentOf = Schema.decodeUnknownSync(
  Schema.Struct({
    window: Schema.Literals(Limit.all),
    bucket: Schema.FiniteFromString,
    amount: Msat.FromString,
    times: Schema.FiniteFromString
  })
)
/** Later than any time. */
const latest = "9223372036854775807"

export const reads = {
  apiKey: Reads.one("Records.apiKey", {
    key: { id: "text" },
    select: `
select ${apiKeys.selected}, c.plan, c.limits::text as "companyLimits", c.fees::text, c.fees_revision::text as "feesRevision"
from ${apiKeys.name} t cross join lateral (select plan, limits, fees, fees_revision from satrail.companies where id = t.company_id limit 1) c where t.id = a.id`,
    read: (row): ApiKey.Holder => ({ apiKey: apiKeys.ofRow(row), ...ofCompany(row) }),
    keyOf: (id: string) => [id]
  }),
  spent: Reads.many("Records.spent", {
    text: `
select span as window, bucket::text, amount::text, times::text from satrail.spent t
where t.company_id = $1::uuid and t.subject = $2::text and t.times > 0`,
    values: (companyId: CompanyId.CompanyId, subject: string) => [companyId, subject],
    read: spentOf
  }),
  keysOf: Reads.many("Records.keysOf", {
    text: `
select ${apiKeys.selected} from ${apiKeys.name} t
where uuid_send(t.company_id) = uuid_send($1::uuid) and t.created_at_millis <= $2::bigint
  and (t.created_at_millis, t.id collate "C") < ($2::bigint, $3::text)
order by t.created_at_millis desc, t.id collate "C" desc limit $4::bigint`,
    values: (companyId: CompanyId.CompanyId, before: Position | null, limit: number) => [
      companyId,
      String(before?.createdAtMillis ?? latest),
      before?.id ?? "",
      String(limit)
    ],
    read: apiKeys.ofRow
  })
}
