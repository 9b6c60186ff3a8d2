import type { Feature } from "@satrail/core/ledger/Feature"
import * as Stored from "./Stored.ts"
import * as Msat from "@satrail/bitcoin/Msat"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as RunOnce from "@satrail/core/ledger/RunOnce"
import * as Tally from "@satrail/core/ledger/Tally"
import * as Waiting from "@satrail/core/ledger/Waiting"
import * as Holding from "./Holding.ts"
import * as KeptSums from "./KeptSums.ts"
import * as Posted from "./Posted.ts"
import * as Fault from "@satrail/core/reports/Fault"
import type * as Page from "@satrail/core/ledger/Page"
import { unmatchedNoun } from "@satrail/core/receiving/Invoice"
import * as LostWithdrawal from "@satrail/core/sending/LostWithdrawal"
import { paymentKind } from "@satrail/core/sending/Withdrawal"
import { Effect, Option, Schema } from "effect"
import * as Deposit from "./Deposit.ts"
import * as Invoice from "./Invoice.ts"
import * as Reads from "../statements/Reads.ts"
import { taskKinds } from "./Withdrawal.ts"

// Entry ids are assigned before the commit, so an entry can appear behind ones already read. When those were
// read, however, its transaction already had an id, because a statement adds entries only after it has written
// other rows. Ids up to the newest one seen (`seen`) are therefore final once every transaction below `xact`
// has ended.
const Mark = Schema.fromJsonString(
  Schema.Struct({
    /** Every entry up to here is counted. */
    id: Schema.BigIntFromString,
    /** And up to here, once every transaction below `xact` has ended. */
    seen: Schema.BigIntFromString,
    xact: Schema.BigIntFromString
  })
)
type Mark = typeof Mark.Type

const beginning: Mark = { id: 0n, seen: 0n, xact: 0n }

const Horizon = Schema.decodeUnknownSync(
  Schema.Struct({ oldest: Schema.BigIntFromString, next: Schema.BigIntFromString })
)

const horizon = Reads.many("Records.tally", {
  text: "select pg_snapshot_xmin(pg_current_snapshot())::text as oldest, pg_snapshot_xmax(pg_current_snapshot())::text as next",
  values: () => [],
  read: Horizon
})

const Sum = Schema.decodeUnknownSync(
  Schema.Struct({
    account: Schema.NullOr(Schema.String),
    counted: Schema.Literals(["true", "false"]),
    into: Msat.FromString,
    out: Msat.FromString,
    seen: Schema.BigIntFromString,
    xact: Schema.BigIntFromString
  })
)

// The last part of the union ensures that an empty result has marks too.
const since = Reads.many("Records.tally", {
  recounts: true,
  text: `
select e.account, (e.id <= $2::bigint)::text as counted, coalesce(sum(e.into), 0)::text as into, coalesce(sum(e.out), 0)::text as out,
  coalesce(max(e.id), $1::bigint)::text as seen, pg_snapshot_xmax(pg_current_snapshot())::text as xact
from (
  select id, to_account as account, amount as into, 0 as out from satrail.entries where id > $1::bigint
  union all select id, from_account, 0, amount from satrail.entries where id > $1::bigint
  union all select $1::bigint, null, 0, 0
) e group by 1, 2`,
  values: (id: bigint, counted: bigint) => [String(id), String(counted)],
  read: Sum
})

const turnovers = (rows: ReadonlyArray<ReturnType<typeof Sum>>): Tally.Turnovers => {
  const all = new Map<string | null, Tally.Turnover>(
    rows.map(({ account, into, out }) => [account, { into, out }])
  )
  return Tally.byAccount((account) => all.get(account) ?? Tally.none)
}

const tally = Effect.gen(function* () {
  const [asOf, sums] = [yield* horizon, yield* since]
  return Effect.fnUntraced(function* (before: Tally.Tally | null) {
    const mark = Option.getOrElse(Schema.decodeUnknownOption(Mark)(before?.mark), () => beginning)
    const counted = mark === beginning || before === null ? Tally.nothing : before.counted
    const [now] = yield* asOf()
    // A database restored on another server has seen fewer transactions. The old server's transactions have
    // ended.
    const isOver = now !== undefined && (mark.xact <= now.oldest || mark.xact > now.next)
    const id = isOver ? mark.seen : mark.id
    const rows = yield* sums(mark.id, id)
    const ofRows = (isCounted: "true" | "false") => turnovers(rows.filter((row) => row.counted === isCounted))
    const last = rows.reduce((seen, row) => (row.seen > seen ? row.seen : seen), id)
    const known = Tally.add(counted, ofRows("true"))
    return {
      accounts: Tally.add(known, ofRows("false")),
      mark: Schema.encodeSync(Mark)({ id, seen: last, xact: rows[0]?.xact ?? mark.xact }),
      counted: known
    }
  })
})

// Each scan here reads only waiting records, through a dedicated index: tasks, and deposits that are
// unconfirmed or not deep enough.
const WaitingRow = Schema.decodeUnknownSync(
  Schema.Struct({
    kind: Schema.String,
    count: Schema.FiniteFromString,
    oldest: Schema.NullOr(Schema.FiniteFromString),
    amount: Msat.FromString
  })
)

/** All waiting work. `$1` is the time before which a due task counts as overdue. */
const items = (features: ReadonlyArray<Feature>) => `
  select case w.rail when 'lightning' then case when w.dispatched_at_millis is null then 'withdrawal_requested'
        when w.job = '${paymentKind}' and w.lane = '${LostWithdrawal.lane}' then 'withdrawal_lost' else 'withdrawal_dispatched' end
      else case when w.dispatched_at_millis is null then 'payout_without_coins' else 'payout_without_block' end end as kind,
    w.id, w.company_id, coalesce(w.approval_at_millis, w.created_at_millis) as at_millis, w.amount + w.service_fee + w.network_allowance as amount,
    w.job, w.lane, w.due_at_millis, w.attempts
  from (
    select w.*, k.kind as job, k.lane, k.due_at_millis, k.attempts
    from satrail.tasks k join satrail.withdrawals w on w.company_id = k.company_id and w.id = k.id where k.kind = any(${taskKinds})
    union all
    select w.*, k.kind, k.lane, k.due_at_millis, k.attempts
    from satrail.tasks k join satrail.withdrawals w on w.follows = k.id where k.kind = any(${taskKinds})
  ) w where w.status = 'pending'
  union all
  select 'withdrawal_unapproved', id, company_id, created_at_millis, amount + service_fee + network_allowance, null, null, null, null
  from satrail.withdrawals where approval = 'waiting'
  union all
  ${Holding.of(features).waiting}
  union all
  select 'deposit_without_block', id, company_id, created_at_millis, amount, null, null, null, null from satrail.deposits
  where rail = 'on_chain' and status = 'pending' and height is null and chain_tx_id is not null
  union all
  select 'deposit_unconfirmed', id, company_id, created_at_millis, amount, null, null, null, null from satrail.deposits
  where rail = 'on_chain' and status = 'pending' and height is not null
  union all
  select 'task_overdue', id, company_id, due_at_millis, 0, kind, lane, due_at_millis, attempts from satrail.tasks
  where due_at_millis < $1::bigint and not starts_with(kind, '${RunOnce.claimPrefix}')`

const waiting = Stored.by((features) =>
  Reads.mapped(
    Reads.many("Records.waiting", {
      text: `
select kind, count(*)::text as count, min(at_millis)::text as oldest, coalesce(sum(amount), 0)::text as amount from (${items(features)}) t group by kind`,
      values: (overdueBeforeMillis: number) => [String(overdueBeforeMillis)],
      read: WaitingRow
    }),
    (rows): Waiting.All => {
      const all = new Map(
        rows.map(({ kind, count, oldest, amount }) => [kind, { count, oldestAtMillis: oldest, amount }])
      )
      return Waiting.byKind(
        Waiting.kinds(features),
        (kind) => all.get(kind) ?? { count: 0, oldestAtMillis: null, amount: Msat.zero }
      )
    }
  )
)

const JobRow = Schema.Struct({
  job: Schema.String,
  lane: Schema.String,
  due: Schema.FiniteFromString,
  attempts: Schema.FiniteFromString
})
const jobOf = ({ job, lane, due, attempts }: typeof JobRow.Type): Waiting.Job => ({
  kind: job,
  lane,
  dueAtMillis: due,
  attempts
})
const claimedRow = Schema.decodeUnknownSync(
  Schema.Struct({ ...JobRow.fields, token: Schema.FiniteFromString })
)
const claimedOf = (row: unknown): Waiting.Claimed => {
  const read = claimedRow(row)
  return { ...jobOf(read), token: read.token }
}

const itemOf = (features: ReadonlyArray<Feature>) =>
  Schema.decodeUnknownSync(
    Schema.Struct({
      kind: Schema.Literals(Waiting.kinds(features)),
      id: Schema.String,
      companyId: CompanyId.CompanyId,
      since: Schema.FiniteFromString,
      amount: Msat.FromString
    })
  )
const itemJob = Schema.decodeUnknownOption(JobRow)

const jobColumns = "t.job, t.lane, t.due_at_millis::text as due, t.attempts::text"

const backlog = Stored.by((features) => {
  const read = itemOf(features)
  return Reads.many("Records.backlog", {
    text: `
select t.kind, t.id::text, t.company_id::text as "companyId", t.at_millis::text as since, t.amount::text, ${jobColumns} from (
  select t.*, row_number() over (partition by kind order by at_millis, id) as place from (${items(features)}) t
  where kind = any(array(select json_array_elements_text($2))) and at_millis < $3::bigint and (at_millis, id) > ($4::bigint, $5::uuid)
) t where place <= $6::bigint order by t.at_millis, t.id limit $7::bigint`,
    values: ({ kinds, overdueBeforeMillis, sinceBeforeMillis, after, perKind, limit }: Waiting.Query) => [
      String(overdueBeforeMillis),
      JSON.stringify(kinds),
      String(sinceBeforeMillis),
      String(after?.sinceMillis ?? -1),
      after?.id ?? Id.nil,
      String(perKind),
      String(limit)
    ],
    read: (row): Waiting.Item => {
      const { since, ...item } = read(row)
      return { ...item, sinceMillis: since, job: Option.getOrNull(Option.map(itemJob(row), jobOf)) }
    }
  })
})

const job = Reads.first("Records.job", {
  text: `
select ${jobColumns}, t.token::text from (
  select k.kind as job, k.lane, k.due_at_millis, k.attempts, k.token from satrail.tasks k where k.id = $2::uuid and k.company_id::text = $1::text
  union all
  select k.kind, k.lane, k.due_at_millis, k.attempts, k.token from satrail.withdrawals w join satrail.tasks k on k.id = w.follows
  where w.company_id = $1::uuid and w.id = $2::uuid
) t`,
  values: (companyId: CompanyId.CompanyId, id: string) => [companyId, id],
  read: claimedOf
})

const faultOf = (features: ReadonlyArray<Feature>) =>
  Schema.decodeUnknownSync(
    Schema.Struct({
      kind: Schema.Literals(Fault.kinds(features)),
      id: Schema.String,
      account: Schema.NullOr(Schema.Literals(Fault.accounts)),
      expected: Schema.NullOr(Msat.FromString),
      found: Schema.NullOr(Msat.FromString)
    })
  )

const accounts = Fault.accounts.map((account) => `'${account}'`).join(", ")

/** Selects the rows of one company. */
const own = (table: string, alias: string) => `satrail.${table} ${alias} where ${alias}.company_id = $1::uuid`

// Implements Fault.of in SQL. One statement is one snapshot, so everything compared is from the same moment,
// even while money moves.
const faults = Stored.by((features) =>
  Reads.many("Records.faults", {
    recounts: true,
    text: `
with booked as (
  select transfer_id, account, sum(amount) as amount from (
    select transfer_id, to_account as account, amount from ${own("entries", "e")}
    union all select transfer_id, from_account, -amount from ${own("entries", "e")}
  ) e where account = any(array[${accounts}]) group by 1, 2
), whole as (
  select w.*, w.amount::numeric + w.service_fee + w.network_allowance as whole from ${own("withdrawals", "w")}
), arrived as (
  select d.*, d.chain_tx_id is null and (d.lightning_invoice_id is null or exists (
    select from satrail.invoices i join satrail.withdrawals w on w.payment_hash = i.payment_hash and w.dispatched_at_millis is null
    where i.company_id = d.company_id and i.id = d.lightning_invoice_id
  )) as is_inside
  from ${own("deposits", "d")}
), said as (
  select transfer_id, account, sum(amount) as amount from (
    select w.ledger_tx_id as transfer_id, v.* from whole w cross join lateral (values
      ('available', case w.status when 'failed' then 0 else -w.whole end),
      ('held', case w.status when 'pending' then w.whole else 0 end),
      ('service_fees', case w.status when 'settled' then w.service_fee else 0 end),
      (case when w.dispatched_at_millis is null then 'internal' when w.rail = 'lightning' then 'node' else 'chain' end,
        case w.status when 'settled' then w.amount::numeric + coalesce(w.network_fee, 0) else 0 end)
    ) as v(account, amount)
    union all
    select o.transfer_id, v.* from (${Holding.of(features).ofCompany("$1::uuid")}) o cross join lateral (values ('available', -o.whole), ('held', o.whole)) as v(account, amount)
    union all
    select d.ledger_tx_id, v.* from arrived d cross join lateral (values
      ('available', case d.status when 'settled' then d.amount else d.absorbed end),
      (case when d.chain_tx_id is not null then 'chain' when d.is_inside then 'internal' else 'node' end,
        case d.status when 'settled' then -d.amount else 0 end)
    ) as v(account, amount)
    union all
    select u.id, v.* from (select * from ${own("unmatched", "u")}) u
    cross join lateral (values ('node', -u.received), ('suspense', u.received)) as v(account, amount)
    union all
    select s.ledger_tx_id, v.* from (select * from satrail.suspense_assignments s where s.unmatched_company_id = $1::uuid) s
    cross join lateral (values ('suspense', -s.amount), ('internal', s.amount)) as v(account, amount)
    ${Posted.ofCompany(features, "$1::uuid")}
  ) s group by 1, 2
), totals as (
  select coalesce(b.posted, 0) as posted, coalesce(b.held, 0) as held, e.posted as entries_posted, e.held as entries_held,
    (select coalesce(sum(whole), 0) from whole where status = 'pending')
      + (select coalesce(sum(o.whole), 0) from (${Holding.of(features).ofCompany("$1::uuid")}) o) as holds
  from (
    select coalesce(sum(amount) filter (where account in ('available', 'held')), 0) as posted,
      coalesce(sum(amount) filter (where account = 'held'), 0) as held
    from booked
  ) e left join satrail.balances b on b.company_id = $1::uuid
), credited as (
  select d.lightning_invoice_id as id, count(*) as times, sum(d.amount) as amount
  from ${own("deposits", "d")} and d.lightning_invoice_id is not null group by 1
), proofs as (
  select id, amount, coalesce(payment_hash, reported_hash) as payment_hash, preimage from whole
  where status = 'settled' and (payment_hash is not null or reported_hash is not null)
  union all select i.id, i.amount, i.payment_hash, i.preimage from ${own("invoices", "i")} and i.status = 'settled'
)
select kind, id::text, account, expected::text, found::text from (
  select 'posted' as kind, $1::uuid as id, null as account, entries_posted as expected, posted::numeric as found from totals where entries_posted <> posted
  union all select 'held', $1::uuid, null, entries_held, held from totals where entries_held <> held
  union all select 'holds', $1::uuid, null, holds, held from totals where holds <> held
  union all select 'below_zero', $1::uuid, null, 0, least(held, posted - held) from totals where least(held, posted - held) < 0
  union all
  select 'transfer', transfer_id, account, coalesce(s.amount, 0), coalesce(b.amount, 0)
  from said s full join booked b using (transfer_id, account) where coalesce(s.amount, 0) <> coalesce(b.amount, 0)
  union all
  select 'credit', i.id, null, i.received, coalesce(c.amount, 0)
  from (select * from ${own("invoices", "i")}) i left join credited c using (id)
  where case i.status when 'settled' then c.times is distinct from 1 or c.amount <> i.received else c.times > 0 end
  ${KeptSums.faults(features, "$1::uuid")}
  union all
  select 'proof', id, null, amount, null from proofs
  where case when preimage ~ '^[0-9a-f]{64}$' then encode(sha256(decode(preimage, 'hex')), 'hex') <> payment_hash else true end
) f limit 1000`,
    values: (companyId: CompanyId.CompanyId) => [companyId],
    read: faultOf(features)
  })
)

const NamedRow = Schema.decodeUnknownSync(Schema.Struct({ id: CompanyId.CompanyId, name: Schema.String }))

const companyNames = Reads.many("Records.companyNames", {
  text: "select id::text, name from satrail.companies where id > $1::uuid order by id limit $2::bigint",
  values: (after: string | null, limit: number) => [after ?? Id.nil, String(limit)],
  read: (row) => NamedRow(row)
})

export const reads = {
  companyNames,
  tally,
  waiting,
  backlog,
  job,
  faults,
  unmatchedById: Reads.anywhere("Records.unmatchedById", unmatchedNoun),
  // With `exists`, the planner may read all assignments first. This subquery is evaluated once per row.
  suspended: Reads.many("Records.suspended", {
    text: `
select ${Invoice.unmatched.selected} from ${Invoice.unmatched.name} t
where (t.created_at_millis, uuid_send(t.id)) < ($1::bigint, uuid_send($2::uuid))
  and coalesce($4::boolean = ((select s.id from satrail.suspense_assignments s where s.unmatched_id = t.id) is not null), true)
order by t.created_at_millis desc, uuid_send(t.id) desc limit $3::bigint`,
    values: (after: Page.Position | null, limit: number, status?: "open" | "assigned") => [
      String(after?.createdAtMillis ?? Number.MAX_SAFE_INTEGER),
      after?.id ?? Id.nil,
      String(limit),
      status === undefined ? null : status === "assigned"
    ],
    read: Invoice.unmatched.ofRow
  }),
  depositOfInvoice: Reads.one("Records.depositOfInvoice", {
    key: { company_id: "uuid", id: "uuid" },
    select: `
select ${Deposit.deposits.selected} from satrail.invoices i join ${Deposit.deposits.name} t on ${Deposit.credited("t", "i")}
where i.company_id = a.company_id and i.id = a.id`,
    read: Deposit.deposits.ofRow,
    keyOf: (companyId: CompanyId.CompanyId, invoiceId: string) => [companyId, invoiceId]
  })
}
