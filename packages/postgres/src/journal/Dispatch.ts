import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { joinTarget, type Kind, statement, target } from "../statements/Statements.ts"
import type * as Table from "../statements/Table.ts"
import { conflict, terminal, withdrawals } from "../reads/Withdrawal.ts"

/** A signed transaction and its inputs. */
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

/** The followers of a batch, read under their locks. A follower that has no row here does not exist. */
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

const followed = `
followed as (
  update satrail.withdrawals t set
    follows = f.id, chain_tx_id = f.chain_tx_id, network_fee = l.share, updated_at_millis = f.at_millis,
    dispatched_at_millis = coalesce(t.dispatched_at_millis, f.at_millis)
  from done f join led l using (n) where t.company_id = l.follower_company and t.id = l.follower
)`

const followersIdentities = (followers: ReadonlyArray<Withdrawal.Follower>): ReadonlyArray<string> =>
  followers.map(({ id }) => id)

/** The outpoints to spend, and the withdrawals that already hold them. */
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

/**
 * Adds a candidate. The first candidate's change becomes a coin immediately, unless it would be two payouts
 * away from a block. The change of a later candidate becomes a coin when the candidate is mined.
 */
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
    claims:
      "select n, f.id, f.token from asked cross join lateral json_to_recordset(followers) as f(id uuid, token int)",
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
      : attempt._tag === "Bolt12"
        ? { payment_request: attempt.offer, coins: [], followers: [] }
        : {
            ...signedRow(attempt, attempt.coins, followers),
            ...(attempt.paymentRequest !== undefined && { payment_request: attempt.paymentRequest })
          },
  identities: ({ attempt, followers }) =>
    attempt._tag === "Lightning"
      ? [attempt.paymentHash]
      : attempt._tag === "Bolt12"
        ? []
        : [...attempt.coins, ...followersIdentities(followers)],
  refusals: {
    AlreadyTerminal: terminal,
    PaymentHashTaken: (_, paymentHash) =>
      new Withdrawal.PaymentHashTaken({ paymentHash: PaymentHash.make(paymentHash) }),
    CoinTaken: ({ id }) => new Withdrawal.CoinTaken({ withdrawalId: id }),
    Conflict: conflict
  }
}

/** The inputs of a replacement, and the change that can no longer be spent. */
const taking = (
  { coins }: { readonly coins: ReadonlyArray<string> },
  { change }: Withdrawal.WithdrawalReplaced["replaces"]
) => (change === null ? coins : [...coins, change])

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
  row: ({ attempt, replaces, followers }) => ({
    ...signedRow(attempt, taking(attempt, replaces), followers),
    replaces: replaces.txId
  }),
  identities: ({ attempt, replaces, followers }) => [
    ...taking(attempt, replaces),
    ...followersIdentities(followers)
  ],
  refusals: {
    AlreadyTerminal: terminal,
    CoinTaken: ({ id }) => new Withdrawal.CoinTaken({ withdrawalId: id }),
    Conflict: conflict
  }
}

/** The transactions sent for a withdrawal, and their replacements. */
export const kinds = { WithdrawalDispatched: dispatched, WithdrawalReplaced: replaced }
