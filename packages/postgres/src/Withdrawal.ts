import { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as TxId from "@satrail/bitcoin/TxId"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import type { Change } from "@satrail/core/Changes"
import { Conflict } from "@satrail/core/ledger/Journal"
import * as Coin from "@satrail/core/nodes/Coin"
import { InvoiceNotPayable } from "@satrail/core/receiving/Invoice"
import type { SettledPayout } from "@satrail/core/sending/SendingReads"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Schema } from "effect"
import { deposits } from "./Deposit.ts"
import * as Reads from "./Reads.ts"
import { joinTarget, type Kind, statement, target } from "./Statements.ts"
import * as Table from "./Table.ts"

/** The kinds of task of a withdrawal, as SQL. */
export const taskKinds = `array[${Withdrawal.kinds.map((kind) => `'${kind}'`).join(", ")}]`

/** Every withdrawal: what a claimed voucher becomes too. */
export const withdrawals = Table.of(Withdrawal.noun)

const conflict = (change: Change) => new Conflict({ change: change._tag, id: change.id })

const terminal = (change: Change, status: string) => new Withdrawal.AlreadyTerminal({ id: change.id, status })

/** A signed transaction, and what it spends. */
const signedColumns = `own_share bigint, followers json, chain_tx_id text, raw_tx text, psbt text, network_fee bigint, is_deep int, coins json, change_wallet text,
  change_vout int, change_script_pub_key text, change_amount bigint, change_type text, change_branch int, change_index int`

const signedRow = (
  candidate: Withdrawal.Candidate,
  coins: ReadonlyArray<string>,
  followers: ReadonlyArray<Withdrawal.Follower & { readonly token?: number }>
): Table.Row => {
  const { txId, rawTx, psbt, networkFee, change, isDeep } = candidate
  return {
    own_share: String(Withdrawal.ownShare(candidate, followers)),
    followers: followers.map(({ id, companyId, token, networkFee }) => ({
      id,
      company_id: companyId,
      token,
      network_fee: String(networkFee)
    })),
    chain_tx_id: txId,
    raw_tx: rawTx,
    psbt,
    network_fee: String(networkFee),
    is_deep: Number(isDeep),
    coins,
    ...(change && {
      change_wallet: change.wallet,
      change_vout: change.vout,
      change_script_pub_key: change.scriptPubKey,
      change_amount: String(change.amount),
      change_type: change.type,
      change_branch: change.branch,
      change_index: change.index
    })
  }
}

/** The members of a batch, as they are now that they are locked. One that is missing here does not exist. */
const led = `
led as materialized (
  select a.n, a.network_fee as share, t.company_id as follower_company, t.id as follower, t.status, t.dispatched_at_millis, t.follows
  from (
    select a.n, f.* from asked a cross join lateral json_to_recordset(a.followers) as f(company_id uuid, id uuid, network_fee bigint)
    order by f.company_id, f.id
  ) a
  cross join lateral (select * from satrail.withdrawals r where r.company_id = a.company_id and r.id = a.id for no key update) t
  where (select count(*) from target) is not null
), unled as materialized (
  select n from asked a where json_array_length(a.followers) <> (select count(*) from led l where l.n = a.n)
)`

// Their events take the upper half of the places that a flush has. So no two Changes with followers go into one flush.
const followed = `
followed as (
  update satrail.withdrawals t set
    follows = f.id, chain_tx_id = f.chain_tx_id, network_fee = l.share, updated_at_millis = f.at_millis,
    dispatched_at_millis = coalesce(t.dispatched_at_millis, f.at_millis)
  from done f join led l using (n) where t.company_id = l.follower_company and t.id = l.follower
), told as (
  insert into satrail.events (id, company_id, type, subject, at_millis)
  select (pg_current_xact_id()::text::bigint - (select transactions from satrail.epoch where id = 1)) * 4096 + 2047
    + row_number() over (order by follower), follower_company, event, follower::text, at_millis
  from done join led using (n)
)`

const followersIdentities = (followers: ReadonlyArray<Withdrawal.Follower>): ReadonlyArray<string> =>
  followers.length === 0 ? [] : ["followers", ...followers.map(({ id }) => id)]

/** The outpoints that are to be spent, and whose they are already. */
const spending = `
coins as materialized (
  select a.n, c.outpoint, t.withdrawal_id is not null as known, t.withdrawal_id <> a.id as taken
  from asked a cross join lateral json_array_elements_text(a.coins) as c(outpoint)
  left join lateral (select withdrawal_id from satrail.coins k where k.outpoint = c.outpoint limit 1) t on true
)`

const spent = `
spent as (
  insert into satrail.coins (outpoint, company_id, withdrawal_id)
  select outpoint, company_id, id from coins join done using (n) where not known order by outpoint
), taken_out as (
  delete from satrail.unspent where outpoint = any(array(select outpoint from coins join done using (n)))
)`

const candidateColumns = `tx_id, raw_tx, psbt, network_fee, is_deep, change_wallet, change_vout, change_script_pub_key, change_amount,
  change_type, change_branch, change_index`

/** One more candidate. The change of the first is a coin at once, unless it would be two payouts away from a block; of others, when they are mined. */
const signed = (which: string) => `
signed as (
  insert into satrail.candidates (company_id, withdrawal_id, place, ${candidateColumns})
  select company_id, id, (select count(*) from satrail.candidates c where c.company_id = done.company_id and c.withdrawal_id = done.id),
    chain_tx_id, raw_tx, psbt, network_fee, is_deep, change_wallet, change_vout, change_script_pub_key, change_amount, change_type,
    change_branch, change_index
  from done ${which} order by company_id, id
)`

const firstChange = `
coined as (
  insert into satrail.unspent (outpoint, wallet, script_pub_key, amount, type, branch, index, is_confirmed)
  select chain_tx_id || ':' || change_vout, change_wallet, change_script_pub_key, change_amount, change_type, change_branch, change_index, 0
  from done where change_vout is not null and is_deep = 0 order by 1 on conflict do nothing
)`

const dispatched: Kind<Withdrawal.WithdrawalDispatched> = {
  statement: statement({
    columns: `payment_hash text, payment_request text, success_action json, ${signedColumns}`,
    claims: "select n, f.id, f.token from asked cross join lateral json_to_recordset(followers) as f(id uuid, token int)",
    parts: (locks) => [
      target(withdrawals, locks),
      `${led}, ${spending}, used as materialized (
  select a.n from asked a
  cross join lateral (select id from satrail.withdrawals w where w.payment_hash = a.payment_hash and w.id <> a.id limit 1) w
), applied as (
  update satrail.withdrawals t set
    payment_hash = f.payment_hash, payment_request = f.payment_request, success_action = f.success_action, chain_tx_id = f.chain_tx_id, raw_tx = f.raw_tx,
    network_fee = f.own_share, dispatched_at_millis = f.at_millis, updated_at_millis = f.at_millis
  from fresh f join target g using (n)
  where t.company_id = f.company_id and t.id = f.id and g.status = 'pending' and g.dispatched_at_millis is null
    and n not in (select n from used) and n not in (select n from coins where taken) and n not in (select n from unled)
    and n not in (select n from led where status <> 'pending' or dispatched_at_millis is not null)
  returning t.company_id, t.id
)`
    ],
    effects: [
      spent,
      signed("where chain_tx_id is not null"),
      firstChange,
      followed,
      "handed_over as (delete from satrail.tasks where id = any(array(select follower from led join done using (n))))"
    ],
    joins: joinTarget,
    before: `case
    when g.dispatched_at_millis is not null then
      case when (g.payment_hash, g.payment_request, g.success_action::text, g.chain_tx_id, g.raw_tx)
        is not distinct from (a.payment_hash, a.payment_request, a.success_action::text, a.chain_tx_id, a.raw_tx)
        and not exists (select from led l where l.n = a.n and l.follows is distinct from a.id) then 'Applied' else 'Conflict' end
    when g.status <> 'pending' then 'AlreadyTerminal ' || g.status end`,
    guards: `case
    when g.n is null or a.n in (select n from unled) then 'missing'
    when a.n in (select n from led where status <> 'pending' or dispatched_at_millis is not null) then 'Conflict'
    when a.n in (select n from used) then 'PaymentHashTaken ' || a.payment_hash
    when a.n in (select n from coins where taken) then 'CoinTaken' end`
  }),
  row: ({ attempt, followers }) =>
    attempt._tag === "Lightning"
      ? {
          payment_hash: attempt.paymentHash,
          payment_request: attempt.paymentRequest,
          ...(attempt.successAction && { success_action: attempt.successAction }),
          coins: [],
          followers: []
        }
      : signedRow(attempt, attempt.coins, followers),
  identities: ({ attempt, followers }) =>
    attempt._tag === "Lightning" ? [attempt.paymentHash] : [...attempt.coins, ...followersIdentities(followers)],
  refusals: {
    AlreadyTerminal: terminal,
    PaymentHashTaken: (_, paymentHash) => new Withdrawal.PaymentHashTaken({ paymentHash: PaymentHash.make(paymentHash) }),
    CoinTaken: ({ id }) => new Withdrawal.CoinTaken({ withdrawalId: id }),
    Conflict: conflict
  }
}

/** What a replacement spends, and the change that may not be spent any more. */
const taking = ({ coins }: { readonly coins: ReadonlyArray<string> }, { change }: Withdrawal.WithdrawalReplaced["replaces"]) =>
  change === null ? coins : [...coins, change]

const replaced: Kind<Withdrawal.WithdrawalReplaced> = {
  statement: statement({
    columns: `${signedColumns}, replaces text`,
    parts: (locks) => [
      target(withdrawals, locks),
      `${led}, ${spending}, again as materialized (
  select a.n from asked a where exists (
    select from satrail.candidates c where c.company_id = a.company_id and c.withdrawal_id = a.id and c.tx_id = a.chain_tx_id
  )
), others as materialized (
  select n from led where follows is distinct from (select id from asked a where a.n = led.n)
  union select n from asked a where json_array_length(a.followers) <> (select count(*) from satrail.withdrawals t where t.follows = a.id)
), applied as (
  update satrail.withdrawals t set
    chain_tx_id = f.chain_tx_id, raw_tx = f.raw_tx, network_fee = f.own_share, updated_at_millis = f.at_millis
  from fresh f join target g using (n)
  where t.company_id = f.company_id and t.id = f.id and g.status = 'pending' and g.chain_tx_id = f.replaces
    and n not in (select n from again) and n not in (select n from coins where taken) and n not in (select n from others)
    and n not in (select n from led where status <> 'pending')
  returning t.company_id, t.id
)`
    ],
    effects: [spent, signed(""), followed],
    joins: joinTarget,
    before: `case
    when a.n in (select n from again) or g.chain_tx_id = a.chain_tx_id then 'Applied'
    when g.status <> 'pending' then 'AlreadyTerminal ' || g.status
    when g.chain_tx_id is distinct from a.replaces or a.n in (select n from others) then 'Conflict' end`,
    guards: `case
    when g.n is null then 'missing'
    when a.n in (select n from led where status <> 'pending') then 'AlreadyTerminal settled'
    when a.n in (select n from coins where taken) then 'CoinTaken' end`
  }),
  row: ({ attempt, replaces, followers }) => ({ ...signedRow(attempt, taking(attempt, replaces), followers), replaces: replaces.txId }),
  identities: ({ attempt, replaces, followers }) => [...taking(attempt, replaces), ...followersIdentities(followers)],
  refusals: {
    AlreadyTerminal: terminal,
    CoinTaken: ({ id }) => new Withdrawal.CoinTaken({ withdrawalId: id }),
    Conflict: conflict
  }
}

const settledColumns = "preimage text, chain_tx_id text, network_fee bigint, payment_index text"

const settlementRow = ({ preimage, chainTxId, networkFee, paymentIndex }: Withdrawal.Settlement) => ({
  preimage,
  chain_tx_id: chainTxId,
  network_fee: String(networkFee),
  payment_index: paymentIndex
})

const sameSettlement = "(g.preimage, g.chain_tx_id, g.network_fee) is not distinct from (a.preimage, a.chain_tx_id, a.network_fee)"

// Which candidate was mined is known now, and its change is a coin like any other. It was kept from everybody where it had been replaced.
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
    status = 'settled', preimage = f.preimage, network_fee = f.network_fee, payment_index = f.payment_index, updated_at_millis = f.at_millis,
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

const transferred: Kind<Withdrawal.InternalTransferred> = {
  statement: statement({
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

export const kinds = {
  WithdrawalDispatched: dispatched,
  WithdrawalReplaced: replaced,
  WithdrawalSettled: settled,
  InternalTransferred: transferred,
  PayoutBuried: buried
}

const settledPayoutOf = Schema.decodeUnknownSync(
  Schema.Struct({ id: Schema.String, companyId: CompanyId.CompanyId, txId: TxId.TxId, rawTx: Schema.String })
)

const Branch = Schema.FiniteFromString.pipe(Schema.decodeTo(Coin.Place.fields.branch))

const coinRow = Schema.decodeUnknownSync(
  Schema.Struct({
    outpoint: Schema.String,
    scriptPubKey: Schema.String,
    amount: Msat.FromString,
    type: AddressType,
    branch: Branch,
    index: Schema.FiniteFromString,
    isConfirmed: Schema.Literals(["0", "1"])
  })
)

const coinOf = (row: unknown): Coin.Coin => {
  const { isConfirmed, ...coin } = coinRow(row)
  return { ...coin, isConfirmed: isConfirmed === "1" }
}

const candidateRow = Schema.decodeUnknownSync(
  Schema.Struct({
    tx_id: TxId.TxId,
    raw_tx: Schema.String,
    psbt: Schema.String,
    network_fee: Msat.FromString,
    is_deep: Schema.Literals(["0", "1"]),
    change_vout: Schema.NullOr(Schema.FiniteFromString)
  })
)

const changeRow = Schema.decodeUnknownSync(
  Schema.Struct({
    change_wallet: Schema.String,
    change_vout: Schema.FiniteFromString,
    change_script_pub_key: Schema.String,
    change_amount: Msat.FromString,
    change_type: AddressType,
    change_branch: Branch,
    change_index: Schema.FiniteFromString
  })
)

const changeOf = (row: unknown): Coin.Change => {
  const change = changeRow(row)
  return {
    wallet: change.change_wallet,
    vout: change.change_vout,
    scriptPubKey: change.change_script_pub_key,
    amount: change.change_amount,
    type: change.change_type,
    branch: change.change_branch,
    index: change.change_index
  }
}

const candidateOf = (row: unknown): Withdrawal.Candidate => {
  const { tx_id, raw_tx, psbt, network_fee, is_deep, change_vout } = candidateRow(row)
  const change = change_vout === null ? null : changeOf(row)
  return { txId: tx_id, rawTx: raw_tx, psbt, networkFee: network_fee, change, isDeep: is_deep === "1" }
}

const outpointOf = Schema.decodeUnknownSync(Schema.Struct({ outpoint: Schema.String }))

export const reads = {
  withdrawal: Reads.get("Records.withdrawal", Withdrawal.noun),
  withdrawalByHash: Reads.named("Records.withdrawalByHash", Withdrawal.noun, ["paymentHash"]),
  followers: Reads.many("Records.followers", {
    text: `
select ${withdrawals.selected} from ${withdrawals.name} t
where t.follows = any(array(select value::uuid from json_array_elements_text($1))) order by t.id`,
    values: (withdrawalId: string) => [Reads.list("uuid", [withdrawalId])],
    read: withdrawals.ofRow
  }),
  // By its task, or that of the one that it follows: there is no other index of what is pending.
  withdrawalsUnderWay: Reads.many("Records.withdrawalsUnderWay", {
    text: `
select ${withdrawals.selected} from (
  select w.* from satrail.tasks k join ${withdrawals.name} w on w.company_id = k.company_id and w.id = k.id
  where k.kind = any(${taskKinds})
  union all select w.* from satrail.tasks k join ${withdrawals.name} w on w.follows = k.id where k.kind = any(${taskKinds})
) t where t.status = 'pending' and t.dispatched_at_millis is not null and t.id > $1::uuid order by t.id limit $2::bigint`,
    values: (after: string | null, limit: number) => [after ?? Id.nil, String(limit)],
    read: withdrawals.ofRow
  }),
  candidates: Reads.many("Records.candidates", {
    text: `
select tx_id, raw_tx, psbt, network_fee::text, is_deep::text, change_wallet, change_vout::text, change_script_pub_key, change_amount::text,
  change_type, change_branch::text, change_index::text
from satrail.candidates t where t.company_id = any(array(select value::uuid from json_array_elements_text($1)))
  and t.withdrawal_id = any(array(select value::uuid from json_array_elements_text($2))) order by t.place`,
    values: (companyId: CompanyId.CompanyId, withdrawalId: string) => [Reads.list("uuid", [companyId]), Reads.list("uuid", [withdrawalId])],
    read: candidateOf
  }),
  settledPayouts: Reads.many("Records.settledPayouts", {
    text: `
select withdrawal_id::text as id, company_id::text as "companyId", tx_id as "txId", raw_tx as "rawTx" from satrail.candidates t
where t.standing = 'settled' and t.withdrawal_id > $1::uuid order by t.withdrawal_id limit $2::bigint`,
    values: (after: string | null, limit: number) => [after ?? Id.nil, String(limit)],
    read: (row): SettledPayout => settledPayoutOf(row)
  }),
  coins: Reads.many("Records.coins", {
    text: `
select outpoint, script_pub_key as "scriptPubKey", amount::text, type, branch::text, index::text, is_confirmed::text as "isConfirmed"
from satrail.unspent t where t.wallet = $1::text order by t.amount desc, t.outpoint limit $2::bigint`,
    values: (wallet: string, limit: number) => [wallet, String(limit)],
    read: coinOf
  }),
  spentCoins: Reads.many("Records.spentCoins", {
    text: "select outpoint from satrail.coins where outpoint = any(array(select value from json_array_elements_text($1)))",
    values: (outpoints: ReadonlyArray<string>) => [Reads.list("text", outpoints)],
    read: (row) => outpointOf(row).outpoint
  })
}
