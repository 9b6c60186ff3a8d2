import * as Msat from "@satrail/bitcoin/Msat"
import type * as TxId from "@satrail/bitcoin/TxId"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import type { Change } from "@satrail/core/Changes"
import * as Balance from "@satrail/core/ledger/Balance"
import { InsufficientBalance } from "@satrail/core/ledger/Balance"
import * as Deposit from "@satrail/core/receiving/Deposit"
import { Effect, Schema } from "effect"
import * as Reads from "./Reads.ts"
import { creation, granted, joinTarget, type Kind, own, statement, target } from "./Statements.ts"
import * as Table from "./Table.ts"

export const deposits = Table.of(Deposit.noun)

const moved = (change: Change) => new Deposit.DepositMoved({ id: change.id })

const outpoint = ({ chainTxId, vout }: Deposit.Deposit) => (chainTxId === null || vout === null ? [] : [`${chainTxId}:${vout}`])

const seen: Kind<Deposit.DepositSeen> = {
  statement: creation(deposits, {
    otherwise: "DepositMoved",
    guards: "(select 'DepositMoved' from satrail.deposits t where t.chain_tx_id = a.chain_tx_id and t.vout = a.vout)"
  }),
  row: ({ deposit }) => deposits.toRow(deposit),
  identities: ({ deposit }) => outpoint(deposit),
  refusals: { DepositMoved: moved }
}

const due = "from fresh f join target g using (n) where g.revision = f.revision - 1"

/** The deposit as it is from here on, if it is as it was. */
const move = (source: string) => `
applied as (
  update satrail.deposits t set
    status = f.status, height = f.height, absorbed = f.absorbed, revision = f.revision, updated_at_millis = f.updated_at_millis
  from (${source}) f
  where t.company_id = f.company_id and t.id = f.id returning t.company_id, t.id
)`

// A credited output is a coin of ours; one that is not credited any more is none. What a payout spends stays spent, whatever becomes of it.
const credited = `
credited as (
  insert into satrail.unspent (outpoint, wallet, script_pub_key, amount, type, branch, index, is_confirmed)
  select f.chain_tx_id || ':' || f.vout, w.node_id, w.script_pub_key, f.amount, w.type, 0, w.index, 1
  from done f cross join lateral (select * from satrail.on_chain_addresses r where r.address = f.recipient limit 1) w
  where f.status = 'settled' and f.chain_tx_id is not null
    and not exists (select from satrail.coins c where c.outpoint = f.chain_tx_id || ':' || f.vout)
  order by 1 on conflict do nothing
), uncredited as (
  delete from satrail.unspent t
  where t.outpoint = any(array(select f.chain_tx_id || ':' || f.vout from done f where f.status <> 'settled' and f.chain_tx_id is not null))
)`

const columns = own(deposits)

const joins = joinTarget

const before = `case when g.revision <> a.revision - 1 then
    case when (g.status, g.height, g.absorbed, g.revision, g.updated_at_millis)
      is not distinct from (a.status, a.height, a.absorbed, a.revision, a.updated_at_millis) then 'Applied' else 'DepositMoved' end end`

const missing = "case when g.n is null then 'missing' end"

const step = statement({
  columns,
  parts: (locks) => [target(deposits, locks), move(`select f.* ${due}`)],
  effects: [credited],
  joins,
  before,
  guards: missing
})

const kind = <C extends Deposit.DepositPlaced | Deposit.DepositConfirmed | Deposit.DepositDropped>(): Kind<C> => ({
  statement: step,
  row: ({ deposit }) => deposits.toRow(deposit),
  refusals: { DepositMoved: moved }
})

const reversed: Kind<Deposit.DepositReversed> = {
  statement: statement({
    columns,
    takes: true,
    parts: (locks) => [target(deposits, locks), granted(`select f.* ${due}`), move("select * from granted")],
    effects: [credited],
    joins,
    before,
    guards: "case when g.n is null then 'missing' else 'InsufficientBalance' end"
  }),
  row: ({ deposit }) => deposits.toRow(deposit),
  refusals: {
    DepositMoved: moved,
    InsufficientBalance: ({ companyId, legs }) =>
      new InsufficientBalance({ companyId, needed: Balance.need(legs.flatMap(({ postings }) => postings)) })
  }
}

export const kinds = {
  DepositSeen: seen,
  DepositPlaced: kind<Deposit.DepositPlaced>(),
  DepositConfirmed: kind<Deposit.DepositConfirmed>(),
  DepositReversed: reversed,
  DepositDropped: kind<Deposit.DepositDropped>()
}

const Sum = Schema.Struct({
  companyId: Schema.NullOr(CompanyId.CompanyId),
  height: Schema.NullOr(Schema.Int),
  amount: Msat.FromString
})

const sums = Reads.many("Records.depositsUnconfirmed", {
  text: `
select t.company_id::text as "companyId", t.height, sum(t.amount)::text as amount from ${deposits.name} t
where t.rail = 'on_chain' and t.status = 'pending' and t.height > $1::integer
group by grouping sets ((t.company_id), (t.height))`,
  values: (height: number) => [String(height)],
  read: Schema.decodeUnknownSync(Sum)
})

/** Each sum is of a company or of a block. */
export const depositsUnconfirmed = Effect.map(
  sums,
  (read) => (height: number) =>
    Effect.map(read(height), (rows) => ({
      ofCompany: new Map(rows.flatMap(({ companyId, amount }) => (companyId === null ? [] : [[companyId, amount] as const]))),
      inBlock: new Map(rows.flatMap(({ height, amount }) => (height === null ? [] : [[height, amount] as const])))
    }))
)

export const reads = {
  deposit: Reads.one("Records.deposit", {
    key: { company_id: "uuid", id: "uuid" },
    select: `select ${deposits.selected} from ${deposits.name} t where t.company_id = a.company_id and t.id = a.id`,
    read: deposits.ofRow,
    keyOf: (companyId: CompanyId.CompanyId, id: string) => [companyId, id]
  }),
  depositByOutpoint: Reads.one("Records.depositByOutpoint", {
    key: { chain_tx_id: "text", vout: "integer" },
    select: `select ${deposits.selected} from ${deposits.name} t where t.chain_tx_id = a.chain_tx_id and t.vout = a.vout`,
    read: deposits.ofRow,
    keyOf: (txId: TxId.TxId, vout: number) => [txId, vout]
  }),
  depositsAbove: Reads.many("Records.depositsAbove", {
    text: `
select ${deposits.selected} from ${deposits.name} t
where t.height > $1::integer and t.id > $2::uuid order by t.id limit $3::bigint`,
    values: (height: number, after: string | null, limit: number) => [String(height), after ?? Id.nil, String(limit)],
    read: deposits.ofRow
  }),
  depositsInNoBlock: Reads.page(
    "Records.depositsInNoBlock",
    deposits,
    "rail = 'on_chain' and status = 'pending' and height is null and chain_tx_id is not null"
  ),
  depositsGivenUp: Reads.many("Records.depositsGivenUp", {
    text: `
select ${deposits.selected} from ${deposits.name} t
where t.rail = 'on_chain' and t.status = 'failed' and t.revision > 0 and ($1::uuid is null or t.id < $1::uuid) order by t.id desc limit $2::bigint`,
    values: (before: string | null, limit: number) => [before, String(limit)],
    read: deposits.ofRow
  }),
  depositsInBlocks: Reads.page("Records.depositsInBlocks", deposits, "rail = 'on_chain' and status = 'pending' and height is not null")
}
