/** A wallet of our own: the keys it has given out, the coins it can spend, and every transaction that was signed for a payout. */
export const script = `
create table satrail.key_ranges (
  id uuid primary key,
  wallet text not null,
  type text not null,
  branch integer not null check (branch in (0, 1)),
  first integer not null check (first >= 0),
  next integer not null check (next > first),
  unique (wallet, type, branch, first)
);

-- What no payout spends. Rows come with a credit or a payout and go with the payout that spends them, so that the table is as large as the
-- wallet and not as its history.
create table satrail.unspent (
  outpoint text primary key,
  wallet text not null,
  script_pub_key text not null,
  amount bigint not null check (amount > 0),
  type text not null,
  branch integer not null,
  index integer not null,
  is_confirmed integer not null check (is_confirmed in (0, 1))
);
create index unspent_largest on satrail.unspent (wallet, amount desc, outpoint);
insert into satrail.unspent (outpoint, wallet, script_pub_key, amount, type, branch, index, is_confirmed)
select d.chain_tx_id || ':' || d.vout, a.node_id, a.script_pub_key, d.amount, a.type, 0, a.index, 1
from satrail.deposits d join satrail.on_chain_addresses a on a.address = d.recipient
where d.status = 'settled' and d.chain_tx_id is not null
  and not exists (select from satrail.coins c where c.outpoint = d.chain_tx_id || ':' || d.vout);

create table satrail.candidates (
  company_id uuid not null,
  withdrawal_id uuid not null,
  place integer not null,
  tx_id text not null,
  raw_tx text not null,
  psbt text not null,
  network_fee bigint not null check (network_fee >= 0),
  is_deep integer not null check (is_deep in (0, 1)),
  change_wallet text,
  change_vout integer,
  change_script_pub_key text,
  change_amount bigint,
  change_type text,
  change_branch integer,
  change_index integer,
  standing text not null default 'offered' check (standing in ('offered', 'settled', 'buried')),
  primary key (company_id, withdrawal_id, place),
  unique (tx_id, withdrawal_id)
);
create index candidates_settled on satrail.candidates (withdrawal_id) where standing = 'settled';
-- What was on its way when this table came to be is followed as it is, and not replaced: nobody knows any more what it was made of.
insert into satrail.candidates (company_id, withdrawal_id, place, tx_id, raw_tx, psbt, network_fee, is_deep)
select company_id, id, 0, chain_tx_id, raw_tx, '', coalesce(network_fee, 0), 0 from satrail.withdrawals
where status = 'pending' and chain_tx_id is not null and raw_tx is not null;

create index deposits_by_height on satrail.deposits (height) where height is not null;
create index deposits_in_no_block on satrail.deposits (id)
  where rail = 'on_chain' and status = 'pending' and height is null and chain_tx_id is not null;
`
