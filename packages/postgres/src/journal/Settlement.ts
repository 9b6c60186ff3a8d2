import * as Deposit from "@satrail/core/receiving/Deposit"
import { InvoiceNotPayable } from "@satrail/core/receiving/Invoice"
import type { PayoutReleased } from "@satrail/core/sending/LostPayout"
import { releasedFailure } from "@satrail/core/sending/Withdrawal"
import type * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { deposits } from "../reads/Deposit.ts"
import * as Labels from "../statements/Labels.ts"
import { joinTarget, type Kind, statement, target } from "../statements/Statements.ts"
import { conflict, terminal, withdrawals } from "../reads/Withdrawal.ts"

const settledColumns =
  "preimage text, reported_hash text, chain_tx_id text, network_fee bigint, payment_index text"

const settlementRow = ({
  preimage,
  reportedHash,
  chainTxId,
  networkFee,
  paymentIndex
}: Withdrawal.Settlement) => ({
  preimage,
  ...(reportedHash !== undefined && { reported_hash: reportedHash }),
  chain_tx_id: chainTxId,
  network_fee: String(networkFee),
  payment_index: paymentIndex
})

const sameSettlement =
  "(g.preimage, g.chain_tx_id, g.network_fee) is not distinct from (a.preimage, a.chain_tx_id, a.network_fee)"

// The mined candidate is now known, and its change becomes an ordinary coin. If the candidate had been
// replaced, its change was reserved until now.
const mined = `
mined as materialized (
  select f.n, c.* from done f cross join lateral (
    select * from satrail.candidates r where r.company_id = f.company_id and r.withdrawal_id = f.id and r.tx_id = f.chain_tx_id limit 1
  ) c
), stood as (
  update satrail.candidates c set standing = 'settled'
  from mined m where c.company_id = m.company_id and c.withdrawal_id = m.withdrawal_id and c.place = m.place
), released as (
  delete from satrail.coins k using mined m where k.outpoint = m.tx_id || ':' || m.change_vout and k.withdrawal_id = m.withdrawal_id
), coined as (
  insert into satrail.unspent (outpoint, wallet, script_pub_key, amount, type, branch, index, is_confirmed)
  select tx_id || ':' || change_vout, change_wallet, change_script_pub_key, change_amount, change_type, change_branch, change_index, 1
  from mined m where change_vout is not null
    and not exists (select from satrail.coins k where k.outpoint = m.tx_id || ':' || m.change_vout and k.withdrawal_id <> m.withdrawal_id)
  order by 1 on conflict (outpoint) do update set is_confirmed = 1
)`

const settled: Kind<Withdrawal.WithdrawalSettled> = {
  statement: statement({
    columns: settledColumns,
    parts: (locks) => [
      target(withdrawals, locks),
      `
applied as (
  update satrail.withdrawals t set
    status = 'settled', preimage = f.preimage, reported_hash = f.reported_hash, network_fee = f.network_fee, payment_index = f.payment_index,
    updated_at_millis = f.at_millis,
    chain_tx_id = f.chain_tx_id,
    raw_tx = coalesce((
      select c.raw_tx from satrail.candidates c where c.company_id = t.company_id and c.withdrawal_id = t.id and c.tx_id = f.chain_tx_id
    ), t.raw_tx)
  from fresh f join target g using (n)
  where t.company_id = f.company_id and t.id = f.id and g.status = 'pending' returning t.company_id, t.id
)`
    ],
    effects: [mined],
    joins: joinTarget,
    before: `case g.status
    when 'settled' then case when ${sameSettlement} then 'Applied' else 'Conflict' end
    when 'failed' then 'AlreadyTerminal failed' end`,
    guards: "case when g.n is null then 'missing' end"
  }),
  row: ({ settlement }) => settlementRow(settlement),
  refusals: { AlreadyTerminal: terminal, Conflict: conflict }
}

/** Marks that no deposit of a flush has a label. */
const unlabelled = "labels in deposit"

const labelled = Labels.written("labelled", Deposit.noun, "done join arriving r on r.item = done.n", [
  "r.company_id",
  "r.id",
  "r.metadata"
])

const transferred: Kind<Withdrawal.InternalTransferred> = {
  statement: statement(({ absent }) => ({
    columns: `${settledColumns}, deposit json, invoice_id uuid, payment_hash text, payment_request text, lightning_address_id uuid`,
    parts: (locks) => [
      target(withdrawals, locks),
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
)`,
      ...(absent.includes(unlabelled) ? [] : [labelled])
    ],
    joins: `${joinTarget} left join billed b using (n)`,
    // The lock shows changes that the snapshot may not contain. In that case the deposit isn't visible yet
    // either.
    before: `case when g.status <> 'pending' then case
    when ${sameSettlement} and exists (
      select from satrail.deposits t join arriving r on r.item = a.n and t.company_id = r.company_id and t.id = r.id
      where (${deposits.compared("t")}) is not distinct from (${deposits.compared("r")})
    ) then 'Applied'
    when ${sameSettlement} and (select t.status from satrail.withdrawals t where t.company_id = a.company_id and t.id = a.id) = 'pending' then 'again'
    else 'AlreadyTerminal ' || g.status end end`,
    guards:
      "case when g.n is null or (a.invoice_id is not null and b.n is null) then 'missing' else 'InvoiceNotPayable ' || b.status end"
  })),
  row: ({ settlement, deposit, invoice, lightningAddressId }) => ({
    ...settlementRow(settlement),
    deposit: deposits.toRow(deposit),
    ...(invoice && {
      invoice_id: invoice.id,
      payment_hash: invoice.paymentHash,
      payment_request: invoice.paymentRequest
    }),
    lightning_address_id: lightningAddressId
  }),
  absent: (changes) => (changes.some(({ deposit }) => Labels.isAny(deposit, "metadata")) ? [] : [unlabelled]),
  identities: ({ deposit, invoice }) =>
    invoice === null ? [deposit.id] : [deposit.id, invoice.id, invoice.paymentHash],
  refusals: {
    AlreadyTerminal: terminal,
    InvoiceNotPayable: ({ id, invoice }, status) =>
      new InvoiceNotPayable({ invoiceId: invoice?.id ?? id, status })
  }
}

const buried: Kind<Withdrawal.PayoutBuried> = {
  statement: statement({
    columns: "chain_tx_id text",
    parts: (locks) => [
      target(withdrawals, locks),
      `
applied as (
  update satrail.candidates c set standing = 'buried' from fresh f
  where c.company_id = f.company_id and c.withdrawal_id = f.id and c.tx_id = f.chain_tx_id and c.standing = 'settled'
  returning c.company_id, c.withdrawal_id as id
)`
    ],
    joins: joinTarget,
    before: `(
      select 'Applied' from satrail.candidates c
      where c.company_id = a.company_id and c.withdrawal_id = a.id and c.tx_id = a.chain_tx_id and c.standing = 'buried'
    )`,
    guards: "case when g.n is null then 'missing' end"
  }),
  row: ({ txId }) => ({ chain_tx_id: txId }),
  refusals: {}
}

// The change of the payout's own transactions will never exist. The coins freed are credited outputs, change of
// settled payouts, and change of a payout that may still confirm.
const freed = `
unmade as (
  delete from satrail.unspent where outpoint = any(array(
    select c.tx_id || ':' || c.change_vout from done f
    cross join lateral (select * from satrail.candidates r where r.company_id = f.company_id and r.withdrawal_id = f.id) c
  ))
), freed as (
  delete from satrail.coins k using (select id, value as outpoint from done cross join json_array_elements_text(coins)) f
  where k.outpoint = f.outpoint and k.withdrawal_id = f.id returning k.outpoint
), coined as (
  insert into satrail.unspent (outpoint, wallet, script_pub_key, amount, type, branch, index, is_confirmed)
  select f.outpoint, c.*
  from (select outpoint, split_part(outpoint, ':', 1) as tx_id, split_part(outpoint, ':', 2)::int as vout from freed) f
  cross join lateral (
    select w.node_id, w.script_pub_key, d.amount, w.type, 0, w.index, 1
    from satrail.deposits d join satrail.on_chain_addresses w on w.address = d.recipient
    where d.chain_tx_id = f.tx_id and d.vout = f.vout and d.status = 'settled'
    union all
    select r.change_wallet, r.change_script_pub_key, r.change_amount, r.change_type, r.change_branch, r.change_index,
      (r.standing <> 'offered')::int
    from satrail.candidates r join satrail.withdrawals w on w.company_id = r.company_id and w.id = r.withdrawal_id
    where r.tx_id = f.tx_id and r.change_vout = f.vout and (r.standing <> 'offered' or w.status = 'pending')
  ) c
  order by 1 on conflict do nothing
)`

const released: Kind<PayoutReleased> = {
  statement: statement({
    columns: "chain_tx_id text, coins json",
    parts: (locks) => [
      target(withdrawals, locks),
      `
applied as (
  update satrail.withdrawals t set
    status = 'failed', failure = '${releasedFailure}', counted = null, updated_at_millis = f.at_millis
  from fresh f join target g using (n)
  where t.company_id = f.company_id and t.id = f.id and g.status = 'pending' and g.chain_tx_id = f.chain_tx_id returning t.company_id, t.id
)`
    ],
    effects: [freed],
    joins: joinTarget,
    before: `case
    when g.status = 'failed' then 'Applied'
    when g.status <> 'pending' then 'AlreadyTerminal ' || g.status
    when g.chain_tx_id is distinct from a.chain_tx_id then 'Conflict' end`,
    guards: "case when g.n is null then 'missing' end"
  }),
  row: ({ txId, coins }) => ({ chain_tx_id: txId, coins }),
  identities: ({ coins }) => coins,
  refusals: { AlreadyTerminal: terminal, Conflict: conflict }
}

/** The ends of a withdrawal: settled over the network, internally or as a final payout, or released. */
export const kinds = {
  WithdrawalSettled: settled,
  InternalTransferred: transferred,
  PayoutBuried: buried,
  PayoutReleased: released
}
