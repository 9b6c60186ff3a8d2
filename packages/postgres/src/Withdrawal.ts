import { Schema } from "effect"
import * as Balance from "@satrail/core/Balance"
import type { Change } from "@satrail/core/Change"
import { InvoiceNotPayable } from "@satrail/core/Invoice"
import { Conflict } from "@satrail/core/Journal"
import * as Withdrawal from "@satrail/core/Withdrawal"
import { deposits } from "./Deposit.ts"
import * as Reads from "./Reads.ts"
import { granted, insufficient, joinTarget, type Kind, own, sameAsAsked, statement, target } from "./Statements.ts"
import * as Table from "./Table.ts"

const withdrawals = Table.make("satrail.withdrawals", Withdrawal.Withdrawal, {
  columns: {
    id: "uuid",
    companyId: "uuid",
    ledgerTxId: "uuid",
    amount: "msat",
    serviceFee: "msat",
    networkAllowance: "msat",
    recipient: "text",
    recipientType: "text",
    rail: "text",
    network: "text",
    metadata: "json",
    rate: "text",
    rateAtMillis: "millis",
    status: "text",
    paymentHash: "text",
    paymentRequest: "text",
    successAction: "json",
    chainTxId: "text",
    rawTx: "text",
    dispatchedAtMillis: "millis",
    preimage: "text",
    networkFee: "msat",
    paymentIndex: "text",
    failure: "text",
    createdAtMillis: "millis",
    updatedAtMillis: "millis"
  },
  moving: [
    "status",
    "paymentHash",
    "paymentRequest",
    "successAction",
    "chainTxId",
    "rawTx",
    "dispatchedAtMillis",
    "preimage",
    "networkFee",
    "paymentIndex",
    "failure",
    "updatedAtMillis"
  ]
})

const conflict = (change: Change) => new Conflict({ change: change._tag, id: change.id })

const terminal = (change: Change, status: string) => new Withdrawal.AlreadyTerminal({ id: change.id, status })

const requested: Kind<Withdrawal.WithdrawalRequested> = {
  statement: statement({
    columns: own(withdrawals),
    parts: [
      granted(`
    select f.* from fresh f
    left join lateral (select true as known from satrail.withdrawals w where w.company_id = f.company_id and w.id = f.id limit 1) w on true
    where known is null
  `),
      `
applied as (
  insert into satrail.withdrawals (${withdrawals.columns}) select ${withdrawals.columns} from granted order by n returning company_id, id
)`
    ],
    before: sameAsAsked(withdrawals, "Conflict"),
    guards: insufficient
  }),
  row: ({ withdrawal }) => withdrawals.toRow(withdrawal),
  refusals: {
    Conflict: conflict,
    InsufficientBalance: ({ companyId, legs }) =>
      new Withdrawal.InsufficientBalance({ companyId, needed: Balance.need(legs.flatMap(({ postings }) => postings)) })
  }
}

const dispatched: Kind<Withdrawal.WithdrawalDispatched> = {
  statement: statement({
    columns: "payment_hash text, payment_request text, success_action json, chain_tx_id text, raw_tx text, network_fee bigint, coins json",
    parts: [
      target(withdrawals),
      `
coins as materialized (
  select a.n, c.outpoint, t.outpoint is not null as taken
  from asked a cross join lateral json_array_elements_text(a.coins) as c(outpoint)
  left join lateral (select outpoint from satrail.coins k where k.outpoint = c.outpoint limit 1) t on true
), used as materialized (
  select a.n from asked a
  cross join lateral (select id from satrail.withdrawals w where w.payment_hash = a.payment_hash and w.id <> a.id limit 1) w
), applied as (
  update satrail.withdrawals t set
    payment_hash = f.payment_hash, payment_request = f.payment_request, success_action = f.success_action, chain_tx_id = f.chain_tx_id, raw_tx = f.raw_tx,
    network_fee = f.network_fee, dispatched_at_millis = f.at_millis, updated_at_millis = f.at_millis
  from fresh f join target g using (n)
  where t.company_id = f.company_id and t.id = f.id and g.status = 'pending' and g.dispatched_at_millis is null
    and n not in (select n from used) and n not in (select n from coins where taken)
  returning t.company_id, t.id
)`
    ],
    effects: [
      `
spent as (
  insert into satrail.coins (outpoint, company_id, withdrawal_id)
  select outpoint, company_id, id from coins join done using (n) order by outpoint
)`
    ],
    joins: joinTarget,
    before: `case
    when g.dispatched_at_millis is not null then
      case when (g.payment_hash, g.payment_request, g.success_action::text, g.chain_tx_id, g.raw_tx)
        is not distinct from (a.payment_hash, a.payment_request, a.success_action::text, a.chain_tx_id, a.raw_tx) then 'Applied' else 'Conflict' end
    when g.status <> 'pending' then 'AlreadyTerminal ' || g.status end`,
    guards: `case
    when g.n is null then 'missing'
    when a.n in (select n from used) then 'PaymentHashTaken ' || a.payment_hash
    when a.n in (select n from coins where taken) then 'CoinTaken' end`
  }),
  row: ({ attempt }) =>
    attempt._tag === "Lightning"
      ? {
          payment_hash: attempt.paymentHash,
          payment_request: attempt.paymentRequest,
          ...(attempt.successAction && { success_action: attempt.successAction }),
          coins: []
        }
      : { chain_tx_id: attempt.txId, raw_tx: attempt.rawTx, network_fee: String(attempt.networkFee), coins: attempt.coins },
  identities: ({ attempt }) => (attempt._tag === "Lightning" ? [attempt.paymentHash] : attempt.coins),
  refusals: {
    AlreadyTerminal: terminal,
    PaymentHashTaken: (_, paymentHash) => new Withdrawal.PaymentHashTaken({ paymentHash }),
    CoinTaken: ({ id }) => new Withdrawal.CoinTaken({ withdrawalId: id }),
    Conflict: conflict
  }
}

const settledColumns = "preimage text, network_fee bigint, payment_index text"

const settlementRow = ({ preimage, networkFee, paymentIndex }: Withdrawal.Settlement) => ({
  preimage,
  network_fee: String(networkFee),
  payment_index: paymentIndex
})

const sameSettlement = "(g.preimage, g.network_fee) is not distinct from (a.preimage, a.network_fee)"

const settled: Kind<Withdrawal.WithdrawalSettled> = {
  statement: statement({
    columns: settledColumns,
    parts: [
      target(withdrawals),
      `
applied as (
  update satrail.withdrawals t set
    status = 'settled', preimage = f.preimage, network_fee = f.network_fee, payment_index = f.payment_index, updated_at_millis = f.at_millis
  from fresh f join target g using (n)
  where t.company_id = f.company_id and t.id = f.id and g.status = 'pending' returning t.company_id, t.id
)`
    ],
    joins: joinTarget,
    before: `case g.status
    when 'settled' then case when ${sameSettlement} then 'Applied' else 'Conflict' end
    when 'failed' then 'AlreadyTerminal failed' end`,
    guards: "case when g.n is null then 'missing' end"
  }),
  row: ({ settlement }) => settlementRow(settlement),
  refusals: { AlreadyTerminal: terminal, Conflict: conflict }
}

const failed: Kind<Withdrawal.WithdrawalFailed> = {
  statement: statement({
    columns: "failure text",
    parts: [
      target(withdrawals),
      `
applied as (
  update satrail.withdrawals t set status = 'failed', failure = f.failure, updated_at_millis = f.at_millis
  from fresh f join target g using (n)
  where t.company_id = f.company_id and t.id = f.id and g.status = 'pending' returning t.company_id, t.id
)`
    ],
    joins: joinTarget,
    before: "case g.status when 'failed' then 'Applied' when 'settled' then 'AlreadyTerminal settled' end",
    guards: "case when g.n is null then 'missing' end"
  }),
  row: ({ failure }) => ({ failure }),
  refusals: { AlreadyTerminal: terminal }
}

const transferred: Kind<Withdrawal.InternalTransferred> = {
  statement: statement({
    columns: `${settledColumns}, deposit json, invoice_id uuid, payment_hash text, payment_request text, lightning_address_id uuid`,
    parts: [
      target(withdrawals),
      `
arriving as materialized (
  select a.n as item, r.* from asked a cross join lateral json_to_record(a.deposit) as r(${deposits.definition})
), billed as materialized (
  select a.n, t.company_id, t.id, t.status, t.claimed_by
  from (select n, d.company_id, invoice_id from asked join arriving d on item = n where invoice_id is not null order by 2, 3) a
  cross join lateral (select * from satrail.invoices r where r.company_id = a.company_id and r.id = a.invoice_id for no key update) t
  where (select count(*) from target) is not null
), used as materialized (
  select a.n from asked a
  cross join lateral (select id from satrail.withdrawals w where w.payment_hash = a.payment_hash and w.id <> a.id limit 1) w
), applied as (
  update satrail.withdrawals t set
    status = 'settled', preimage = f.preimage, network_fee = f.network_fee, payment_index = f.payment_index,
    payment_hash = coalesce(f.payment_hash, t.payment_hash), payment_request = coalesce(f.payment_request, t.payment_request),
    updated_at_millis = f.at_millis
  from fresh f join target g using (n)
  where t.company_id = f.company_id and t.id = f.id and g.status = 'pending' and (f.invoice_id is null or (
    n in (select b.n from billed b join asked a using (n) where b.status = 'claimed' and b.claimed_by = a.id)
    and n not in (select n from used)
  ))
  returning t.company_id, t.id
)`
    ],
    effects: [
      `
invoiced as (
  update satrail.invoices t set status = 'settled', received = d.amount, preimage = f.preimage, settled_at_millis = f.at_millis
  from done f join billed b using (n) join arriving d on d.item = n
  where t.company_id = b.company_id and t.id = b.id
), deposited as (
  insert into satrail.deposits (${deposits.columns})
  select ${deposits.columns.replaceAll(/\b\w+/g, "r.$&")} from done join arriving r on r.item = n
), paid as (
  update satrail.lightning_addresses t set last_used_at_millis = u.at_millis, updated_at_millis = u.at_millis
  from (
    select r.company_id, f.lightning_address_id, max(f.at_millis) as at_millis from done f join arriving r on r.item = n
    where f.lightning_address_id is not null group by r.company_id, f.lightning_address_id
  ) u
  where t.company_id = u.company_id and t.id = u.lightning_address_id
)`
    ],
    joins: `${joinTarget} left join billed b using (n)`,
    // The lock shows what the snapshot may not: then the deposit is not to be seen yet either.
    before: `case when g.status <> 'pending' then case
    when ${sameSettlement} and exists (
      select from satrail.deposits t join arriving r on r.item = a.n and t.company_id = r.company_id and t.id = r.id
      where (${deposits.columns.replaceAll(/\b\w+/g, "t.$&")}) is not distinct from (${deposits.columns.replaceAll(/\b\w+/g, "r.$&")})
    ) then 'Applied'
    when ${sameSettlement} and (select t.status from satrail.withdrawals t where t.company_id = a.company_id and t.id = a.id) = 'pending' then 'again'
    else 'AlreadyTerminal ' || g.status end end`,
    guards: "case when g.n is null or (a.invoice_id is not null and b.n is null) then 'missing' else 'InvoiceNotPayable ' || b.status end"
  }),
  row: ({ settlement, deposit, invoice, lightningAddressId }) => ({
    ...settlementRow(settlement),
    deposit: deposits.toRow(deposit),
    ...(invoice && { invoice_id: invoice.id, payment_hash: invoice.paymentHash, payment_request: invoice.paymentRequest }),
    lightning_address_id: lightningAddressId
  }),
  identities: ({ deposit, invoice }) => (invoice === null ? [deposit.id] : [deposit.id, invoice.id, invoice.paymentHash]),
  refusals: {
    AlreadyTerminal: terminal,
    InvoiceNotPayable: ({ id, invoice }, status) => new InvoiceNotPayable({ invoiceId: invoice?.id ?? id, status })
  }
}

export const kinds = {
  WithdrawalRequested: requested,
  WithdrawalDispatched: dispatched,
  WithdrawalSettled: settled,
  WithdrawalFailed: failed,
  InternalTransferred: transferred
}

const outpointOf = Schema.decodeUnknownSync(Schema.Struct({ outpoint: Schema.String }))

export const reads = {
  withdrawal: Reads.one("Records.withdrawal", {
    key: { company_id: "uuid", id: "uuid" },
    select: `select ${withdrawals.selected} from ${withdrawals.name} t where t.company_id = a.company_id and t.id = a.id`,
    read: withdrawals.ofRow,
    keyOf: (companyId: string, id: string) => [companyId, id]
  }),
  withdrawalByHash: Reads.one("Records.withdrawalByHash", {
    key: { payment_hash: "text" },
    select: `select ${withdrawals.selected} from ${withdrawals.name} t where t.payment_hash = a.payment_hash`,
    read: withdrawals.ofRow,
    keyOf: (paymentHash: string) => [paymentHash]
  }),
  spentCoins: Reads.many("Records.spentCoins", {
    text: "select outpoint from satrail.coins where outpoint = any(array(select value from json_array_elements_text($1)))",
    values: (outpoints: ReadonlyArray<string>) => [Reads.list("text", outpoints)],
    read: (row) => outpointOf(row).outpoint
  })
}
