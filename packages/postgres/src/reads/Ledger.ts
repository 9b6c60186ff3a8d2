import * as Msat from "@satrail/bitcoin/Msat"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Balance from "@satrail/core/ledger/Balance"
import * as Stored from "./Stored.ts"
import * as Holding from "./Holding.ts"
import * as Event from "@satrail/core/ledger/Event"
import type { Published } from "@satrail/core/ledger/LedgerReads"
import * as Tally from "@satrail/core/ledger/Tally"
import type { Audit } from "@satrail/core/reports/ReportReads"
import { Effect, Option, Schema } from "effect"
import * as Reads from "../statements/Reads.ts"

const Total = Schema.Struct({ posted: Msat.FromString, held: Msat.FromString })

const balance = Reads.mapped(
  Reads.one("Records.balance", {
    key: { company_id: "uuid" },
    select: "select posted::text, held::text from satrail.balances t where t.company_id = a.company_id",
    read: Schema.decodeUnknownSync(Total),
    keyOf: (companyId: CompanyId.CompanyId) => [companyId]
  }),
  Option.getOrElse(() => Balance.empty)
)

// Pending deposits have their own covering index. As in lists, it contains the company's id as bytes (see
// migrations/Baseline.ts).
const funds = Reads.mapped(
  Reads.one("Records.funds", {
    key: { company_id: "uuid" },
    select: `
select posted::text, held::text, (
  select coalesce(sum(d.amount - d.absorbed), 0)::text from satrail.deposits d
  where uuid_send(d.company_id) = uuid_send(t.company_id) and d.status = 'pending'
) as "pendingDeposits" from satrail.balances t where t.company_id = a.company_id`,
    read: Schema.decodeUnknownSync(Schema.Struct({ ...Total.fields, pendingDeposits: Msat.FromString })),
    keyOf: (companyId: CompanyId.CompanyId) => [companyId]
  }),
  Option.getOrElse(() => ({ ...Balance.empty, pendingDeposits: Msat.zero }))
)

const decodeAudit = Schema.decodeUnknownSync(
  Schema.Struct({
    posted: Msat.FromString,
    held: Msat.FromString,
    entries_posted: Msat.FromString,
    entries_held: Msat.FromString,
    pending: Msat.FromString
  })
)

const auditOf = (row: unknown): Audit => {
  const { posted, held, entries_posted, entries_held, pending } = decodeAudit(row)
  return { totals: { posted, held }, entries: { posted: entries_posted, held: entries_held }, pending }
}

// One statement is one snapshot, so the three counts agree while money moves.
const audit = Stored.by((features) =>
  Reads.mapped(
    Reads.first("Records.audit", {
      recounts: true,
      text: `
select coalesce(b.posted, 0)::text as posted, coalesce(b.held, 0)::text as held, e.posted::text as entries_posted,
  e.held::text as entries_held, (w.pending + v.pending)::text as pending
from (
  select
    coalesce(sum(amount * ((to_account in ('available', 'held'))::int - (from_account in ('available', 'held'))::int)), 0) as posted,
    coalesce(sum(amount * ((to_account = 'held')::int - (from_account = 'held')::int)), 0) as held
  from satrail.entries where company_id = $1::uuid
) e cross join (
  select coalesce(sum(amount + service_fee + network_allowance), 0) as pending
  from satrail.withdrawals where company_id = $1::uuid and status = 'pending'
) w cross join (
  select coalesce(sum(h.whole), 0) as pending from (${Holding.of(features).ofCompany("$1::uuid")}) h
) v left join satrail.balances b on b.company_id = $1::uuid`,
      values: (companyId: CompanyId.CompanyId) => [companyId],
      read: auditOf
    }),
    Option.getOrThrow // there is always one row
  )
)

const trialRow = Schema.decodeUnknownSync(Schema.Struct({ account: Schema.String, amount: Msat.FromString }))

const trialBalance = Reads.mapped(
  Reads.many("Records.trialBalance", {
    recounts: true,
    text: `
select account, sum(amount)::text as amount from (
  select to_account as account, amount from satrail.entries union all select from_account, -amount from satrail.entries
) e group by account`,
    values: () => [],
    read: trialRow
  }),
  (rows) => {
    const sums = new Map(rows.map(({ account, amount }) => [account, amount]))
    return Tally.byAccount((account) => sums.get(account) ?? Msat.zero)
  }
)

const decodeEvent = Schema.decodeUnknownSync(
  Schema.Struct({
    id: Schema.BigIntFromString,
    companyId: CompanyId.CompanyId,
    ...Event.Event.fields,
    atMillis: Schema.FiniteFromString
  })
)

// Returns only events of transactions that ended before the oldest running one began, because every later
// commit has a higher id.
const events = Reads.many("Records.events", {
  text: `
select id::text, company_id::text as "companyId", type, subject, at_millis::text as "atMillis" from satrail.events t
where t.id > $1::bigint
  and t.id < (pg_snapshot_xmin(pg_current_snapshot())::text::bigint - (select transactions from satrail.epoch where id = 1)) * 4096
order by t.id limit $2::bigint`,
  values: (after: bigint, limit: number) => [String(after), String(limit)],
  read: (row): Published => decodeEvent(row)
})

// Limited to ids below those that can still appear, as above, so a reader that continues from here misses
// nothing.
const lastEvent = Reads.first("Records.lastEvent", {
  text: `
select greatest((
  select id from satrail.events t
  where t.id < (pg_snapshot_xmin(pg_current_snapshot())::text::bigint - (select transactions from satrail.epoch where id = 1)) * 4096
  order by t.id desc limit 1
), (select until from satrail.forgotten_events where company_id = '${Id.nil}'), 0)::text as id`,
  values: () => [],
  read: Schema.decodeUnknownSync(Schema.Struct({ id: Schema.BigIntFromString }))
})

export const reads = {
  balance,
  funds,
  audit,
  trialBalance: Effect.map(trialBalance, (read) => read()),
  events,
  lastEvent: Effect.map(lastEvent, (read) =>
    Effect.map(read(), Option.match({ onNone: () => 0n, onSome: ({ id }) => id }))
  )
}
