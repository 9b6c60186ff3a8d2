import * as Id from "@satrail/core/base/Id"
import * as Msat from "@satrail/bitcoin/Msat"
import { maxCounted, type Standing } from "@satrail/core/accounts/AccountReads"
import * as Company from "@satrail/core/accounts/Company"
import { ProtectionMoved } from "@satrail/core/accounts/Loosening"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Conflict } from "@satrail/core/ledger/Journal"
import { Effect, Schema } from "effect"
import * as Lists from "../statements/Lists.ts"
import * as Reads from "../statements/Reads.ts"
import { joinTarget, type Kind, own, statement } from "../statements/Statements.ts"
import * as Table from "../statements/Table.ts"

const companies = Table.of(Company.members)

const opened: Kind<Company.CompanyOpened> = {
  // A company's id is also its company_id, because the shared parts find the row by both.
  statement: statement({
    columns: own(companies),
    parts: () => [
      `
applied as (
  insert into satrail.companies (${companies.columns}) select ${companies.columns} from fresh order by id
  on conflict do nothing returning id as company_id, id
), totals as (
  insert into satrail.balances (company_id) select company_id from applied
)`
    ],
    before: `(select case when ${companies.asAsked} then 'Applied' else 'Conflict' end from satrail.companies t where t.id = a.id)`
  }),
  row: ({ company }) => companies.toRow(company),
  refusals: { Conflict: (change) => new Conflict({ change: change._tag, id: change.id }) }
}

/**
 * Additional parts: `part` locks other rows first and receives `n` and `id` of all Changes; the rest are
 * effects.
 */
interface Also {
  readonly name: string
  readonly part: string
  readonly effects: ReadonlyArray<string>
}

// A Change that holds money locks the company's balance, which also contains the freeze and the revision of
// its fees.
const balanced = (name: string, effect: string): Also => ({
  name,
  part: `
${name} as materialized (
  select a.n, a.id from (select n, id from asked order by id) a
  cross join lateral (select frozen from satrail.balances where company_id = a.id for no key update) b
)`,
  effects: [
    `
${name}_balances as (
  update satrail.balances b set ${effect} from done d where b.company_id = d.company_id
)`
  ]
})

const repriced = balanced("repriced", "fees_revision = fees_revision + 1")
const revision = "fees_revision = t.fees_revision + 1"

/** Clears the pending request to loosen, which was granted or no longer applies. */
const answered = "loosening = null"

/** Replaces one field of a company, and the fields that `sets` assigns. */
const changed = (
  member: "plan" | "limits" | "frozen" | "loosening" | "fees",
  type: "text" | "json",
  sets?: string,
  before?: Also,
  /** The condition that a Change `of` is not refused because the field has moved. */
  isUnmoved?: (of: string) => string
) =>
  statement({
    columns: `${member} ${type}${isUnmoved === undefined ? "" : ", expects boolean, expected json"}`,
    parts: () => [
      ...(before === undefined ? [] : [before.part]),
      `
target as materialized (
  select a.n, t.${member} from (select n, id from ${before?.name ?? "asked"} order by id) a
  cross join lateral (select ${member} from satrail.companies where id = a.id for no key update) t
), applied as (
  update satrail.companies t set ${member} = f.${member}${sets === undefined ? "" : `, ${sets}`} from fresh f join target g using (n)
  where t.id = f.id and g.${member}::text is distinct from f.${member}::text${isUnmoved === undefined ? "" : ` and ${isUnmoved("f")}`} returning t.id as company_id, t.id
)`
    ],
    effects: before?.effects ?? [],
    joins: joinTarget,
    before: `case when g.n is not null and g.${member}::text is not distinct from a.${member}::text then 'Applied' end`,
    guards: `case when g.n is null then 'missing'${isUnmoved === undefined ? "" : ` when not (${isUnmoved("a")}) then 'ProtectionMoved'`} end`
  })

/** The same value can be different JSON text. */
const unmoved = (member: string) => (of: string) =>
  `(not ${of}.expects or g.${member}::jsonb is not distinct from ${of}.expected::jsonb)`

const refusals = { ProtectionMoved: ({ id }: { readonly id: string }) => new ProtectionMoved({ id }) }

const planChanged: Kind<Company.PlanChanged> = {
  statement: changed("plan", "text", revision, repriced),
  row: ({ plan }) => ({ plan }),
  refusals: {}
}

const limited: Kind<Company.CompanyLimited> = {
  statement: changed("limits", "json", answered, undefined, unmoved("limits")),
  row: ({ limits, expects }) => ({
    limits,
    expects: expects !== undefined,
    expected: expects?.limits ?? null
  }),
  refusals
}

const looseningRequested: Kind<Company.CompanyLooseningRequested> = {
  statement: changed("loosening", "json"),
  row: ({ loosening }) => ({ loosening }),
  refusals: {}
}

const freezeChanged: Kind<Company.FreezeChanged> = {
  statement: changed(
    "frozen",
    "json",
    answered,
    balanced("halted", "frozen = d.frozen is not null"),
    unmoved("frozen")
  ),
  row: ({ frozen, expects }) => ({
    frozen,
    expects: expects !== undefined,
    expected: expects?.frozen ?? null
  }),
  refusals
}

const feesChanged: Kind<Company.CompanyFeesChanged> = {
  statement: changed("fees", "json", revision, repriced, unmoved("fees")),
  row: ({ fees, expects }) => ({ fees, expects: expects !== undefined, expected: expects?.fees ?? null }),
  refusals
}

export const kinds = {
  CompanyOpened: opened,
  PlanChanged: planChanged,
  CompanyLimited: limited,
  CompanyLooseningRequested: looseningRequested,
  CompanyFeesChanged: feesChanged,
  FreezeChanged: freezeChanged
}

const asked = (where: string) =>
  Lists.part({
    columns: companies.columns,
    from: `${companies.name} r`,
    where: `${where} and r.id < {before}::uuid`,
    order: "r.id desc",
    picked: `coalesce(plan = {plan}, true)
    and ({text}::text is null or starts_with(id::text, lower({text}::text)) or strpos(lower(name), lower({text}::text)) > 0)`
  })

const StandingRow = Schema.decodeUnknownSync(
  Schema.Struct({
    companyId: CompanyId.CompanyId,
    posted: Msat.FromString,
    held: Msat.FromString,
    keys: Schema.FiniteFromString,
    seen: Schema.NullOr(Schema.FiniteFromString)
  })
)

const standings = Reads.many("Records.standings", {
  text: `
select b.company_id::text as "companyId", b.posted::text, b.held::text, k.keys::text, k.seen::text
from json_array_elements_text($1) as a(id) join satrail.balances b on b.company_id = a.id::uuid
cross join lateral (
  select least(count(*) filter (where revoked_at_millis is null and coalesce(expires_at_millis > $2::bigint, true)), ${maxCounted}) as keys,
    max(last_used_at_millis) as seen
  from satrail.api_keys where company_id = b.company_id
) k`,
  values: (ids: ReadonlyArray<CompanyId.CompanyId>, nowMillis: number) => [
    Reads.list("uuid", ids),
    String(nowMillis)
  ],
  read: (row): Standing => {
    const { companyId, posted, held, keys, seen } = StandingRow(row)
    return { companyId, balance: { posted, held }, keys, lastSeenAtMillis: seen }
  }
})

export const reads = {
  company: Reads.one("Records.company", {
    key: { id: "uuid" },
    select: `select ${companies.selected} from ${companies.name} t where t.id = a.id`,
    read: companies.ofRow,
    keyOf: (id: CompanyId.CompanyId) => [id]
  }),
  companies: Reads.page("Records.companies", companies, "true"),
  companiesAsked: Effect.map(
    Effect.all({
      all: Lists.picking("Records.companiesAsked", companies, [asked("true")], Lists.byId),
      frozen: Lists.picking("Records.companiesFrozen", companies, [asked("r.frozen is not null")], Lists.byId)
    }),
    (read) =>
      ({ limit, before, text, plan, status }: Company.Query, looks: number) =>
        read[status ?? "all"](
          { before: before ?? Id.max, text: text ?? null, plan: plan ?? null },
          limit,
          looks
        )
  ),
  standings
}
