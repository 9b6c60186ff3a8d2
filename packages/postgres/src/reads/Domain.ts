import * as Domain from "@satrail/core/accounts/Domain"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Reads from "../statements/Reads.ts"
import { type Kind, own, statement } from "../statements/Statements.ts"
import * as Table from "../statements/Table.ts"

const domains = Table.of(Domain.members)

/**
 * The domains that these Changes refer to, whichever company owns them, read under their locks. Verdicts refer
 * to such a row as `h`.
 */
const held = (locks: string) => `
held as materialized (
  select a.n, t.*
  from (select n, domain from asked order by domain) a
  cross join lateral (select * from satrail.domains r where r.domain = a.domain for no key update) t
  ${locks}
)`

const verified: Kind<Domain.DomainVerified> = {
  statement: statement({
    columns: `${own(domains)}, replaces uuid, replaces_lost_at_millis bigint`,
    parts: (locks) => [
      held(locks),
      `
replaced as (
  update satrail.domains t set company_id = f.company_id, shown_by = f.shown_by, verified_at_millis = f.verified_at_millis,
    checked_at_millis = f.checked_at_millis, lost_at_millis = f.lost_at_millis
  from fresh f join held h using (n)
  where t.domain = f.domain and (
    (h.company_id = f.company_id and h.shown_by = 'dns' and f.shown_by = 'operator')
    or (h.company_id <> f.company_id and h.company_id = f.replaces and h.lost_at_millis = f.replaces_lost_at_millis)
  )
  returning t.company_id
), inserted as (
  insert into satrail.domains (${domains.columns}) select ${domains.columns} from fresh where n not in (select n from held) order by domain
  on conflict do nothing returning company_id
), applied as (
  select company_id, company_id as id from (select company_id from replaced union all select company_id from inserted) w
)`
    ],
    joins: "left join held h using (n)",
    before: `case when h.n is not null then case when h.company_id = a.company_id then 'Applied' else 'DomainTaken' end end`
  }),
  row: ({ domain, replaces }) => ({
    ...domains.toRow(domain),
    ...(replaces && { replaces: replaces.companyId, replaces_lost_at_millis: replaces.lostAtMillis })
  }),
  identities: ({ domain }) => [domain.domain],
  refusals: { DomainTaken: ({ domain }) => new Domain.DomainTaken({ domain: domain.domain }) }
}

const checked: Kind<Domain.DomainChecked> = {
  statement: statement({
    columns: "domain text, is_shown boolean",
    parts: (locks) => [
      held(locks),
      `
applied as (
  update satrail.domains t set checked_at_millis = f.at_millis,
    lost_at_millis = case when f.is_shown then null else coalesce(h.lost_at_millis, f.at_millis) end
  from fresh f join held h using (n)
  where t.domain = f.domain and h.company_id = f.company_id and h.shown_by = 'dns' and h.checked_at_millis < f.at_millis
  returning t.company_id, t.company_id as id
)`
    ],
    before: "'Applied'"
  }),
  row: ({ domain, isShown }) => ({ domain, is_shown: isShown }),
  identities: ({ domain }) => [domain],
  refusals: {}
}

export const kinds = { DomainVerified: verified, DomainChecked: checked }

export const reads = {
  domain: Reads.one("Records.domain", {
    key: { domain: "text" },
    select: `select ${domains.selected} from ${domains.name} t where t.domain = a.domain`,
    read: domains.ofRow,
    keyOf: (domain: string) => [domain]
  }),
  domainsOf: Reads.many("Records.domainsOf", {
    text: `select ${domains.selected} from ${domains.name} t where t.company_id = $1::uuid order by t.domain collate "C"`,
    values: (companyId: CompanyId.CompanyId) => [companyId],
    read: domains.ofRow
  }),
  domainsToCheck: Reads.many("Records.domainsToCheck", {
    text: `
select ${domains.selected} from ${domains.name} t
where t.shown_by = 'dns' and t.checked_at_millis < $1::bigint and t.domain collate "C" > $2 order by t.domain collate "C" limit $3::bigint`,
    values: (beforeMillis: number, after: string | null, limit: number) => [
      String(beforeMillis),
      after ?? "",
      String(limit)
    ],
    read: domains.ofRow
  })
}
