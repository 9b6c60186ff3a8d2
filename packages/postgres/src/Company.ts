import * as Company from "@satrail/core/accounts/Company"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Conflict } from "@satrail/core/ledger/Journal"
import * as Reads from "./Reads.ts"
import { joinTarget, type Kind, statement } from "./Statements.ts"
import * as Table from "./Table.ts"

const companies = Table.of(Company.members)

const opened: Kind<Company.CompanyOpened> = {
  // A company's id is its company_id: the shared parts find the row by both.
  statement: statement({
    columns: "name text, plan text, created_at_millis bigint",
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

const planChanged: Kind<Company.PlanChanged> = {
  statement: statement({
    columns: "plan text",
    parts: () => [
      `
target as materialized (
  select a.n, t.plan from (select n, id from asked order by id) a
  cross join lateral (select plan from satrail.companies where id = a.id for no key update) t
), applied as (
  update satrail.companies t set plan = f.plan from fresh f join target g using (n)
  where t.id = f.id and g.plan <> f.plan returning t.id as company_id, t.id
)`
    ],
    joins: joinTarget,
    before: "case when g.plan = a.plan then 'Applied' end",
    guards: "case when g.n is null then 'missing' end"
  }),
  row: ({ plan }) => ({ plan }),
  refusals: {}
}

export const kinds = { CompanyOpened: opened, PlanChanged: planChanged }

export const reads = {
  company: Reads.one("Records.company", {
    key: { id: "uuid" },
    select: `select ${companies.selected} from ${companies.name} t where t.id = a.id`,
    read: companies.ofRow,
    keyOf: (id: CompanyId.CompanyId) => [id]
  }),
  companies: Reads.page("Records.companies", companies, "true")
}
