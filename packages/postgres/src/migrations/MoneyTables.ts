/** Money that comes in and goes out. See the rules in `Baseline.ts`. */
export const tables = `
-- Receiving

create table satrail.lightning_addresses (
  id uuid not null,
  company_id uuid not null,
  handle text not null,
  domain text not null,
  metadata json not null,
  created_at_millis bigint not null,
  updated_at_millis bigint not null,
  last_used_at_millis bigint,
  deleted_at_millis bigint,
  min_sendable bigint check (min_sendable > 0),
  max_sendable bigint check (max_sendable > 0),
  success_message text,
  primary key (company_id, id),
  unique (handle, domain)
) with (fillfactor = 80);

create table satrail.on_chain_addresses (
  id uuid not null unique,
  company_id uuid not null,
  node_id text not null,
  address text not null unique,
  script_pub_key text not null unique,
  type text not null,
  index integer not null check (index >= 0),
  metadata json not null,
  created_at_millis bigint not null,
  checkout_id uuid,
  primary key (company_id, id)
);

create table satrail.invoices (
  id uuid not null,
  company_id uuid not null,
  node_id text not null,
  memo text not null,
  amount bigint check (amount > 0), -- null if the payer decides
  payment_hash text not null unique,
  payment_request text not null,
  metadata json not null,
  lightning_address_id uuid,
  rate text,
  status text not null check (
    status in ('pending', 'claimed', 'held', 'settling', 'settled', 'expired', 'canceling', 'canceled')
  ),
  received bigint check (received > 0),
  preimage text,
  -- the withdrawal that pays it internally
  claimed_by uuid check (status <> 'claimed' or claimed_by is not null),
  created_at_millis bigint not null,
  expires_at_millis bigint not null,
  settled_at_millis bigint,
  rate_at_millis bigint,
  callback json,
  canceled_at_millis bigint,
  min_amount bigint check (min_amount > 0),
  max_amount bigint check (max_amount > 0),
  checkout_id uuid,
  hold text check (hold in ('node', 'company')), -- who has the preimage of a hold invoice
  held bigint check (held > 0),
  held_until_millis bigint,
  api_key_id text,
  primary key (company_id, id),
  check (status <> 'settled' or (received is not null and settled_at_millis is not null)),
  check (status not in ('canceling', 'canceled') or canceled_at_millis is not null),
  check (status not in ('held', 'settling') or (held is not null and held_until_millis is not null))
) with (fillfactor = 90);
-- A canceled invoice stays open until the node has closed it.
create index invoices_open on satrail.invoices (id) where status in ('pending', 'claimed', 'canceling');
create index invoices_of_address on satrail.invoices (lightning_address_id, id)
  where lightning_address_id is not null;
-- Invoices that wallets requested: counted while they can be paid, deleted afterwards.
create index invoices_for_wallets on satrail.invoices (expires_at_millis, id) include (lightning_address_id)
  where lightning_address_id is not null and status = 'pending';

create table satrail.deposits (
  id uuid not null,
  company_id uuid not null,
  ledger_tx_id uuid not null,
  recipient text not null,
  amount bigint not null check (amount > 0),
  network text not null,
  rail text not null check (rail in ('lightning', 'on_chain')),
  status text not null check (status in ('pending', 'settled', 'failed')),
  chain_tx_id text,
  vout integer check (vout >= 0),
  height integer check (height >= 0),
  lightning_invoice_id uuid,
  absorbed bigint not null check (absorbed between 0 and amount),
  revision integer not null check (revision >= 0),
  created_at_millis bigint not null,
  updated_at_millis bigint not null,
  metadata json,
  refunded bigint not null default 0,
  refund_id uuid,
  checkout_id uuid,
  primary key (company_id, id),
  check ((chain_tx_id is null) = (vout is null)),
  constraint deposits_refunded check (refunded >= 0 and refunded <= amount)
) with (fillfactor = 90);
create index deposits_listed on satrail.deposits (uuid_send(company_id), created_at_millis desc, id desc);
-- The sum of pending deposits is read from this index alone.
create index deposits_pending on satrail.deposits (uuid_send(company_id))
  include (company_id, amount, absorbed) where status = 'pending';
create index deposits_anywhere on satrail.deposits using brin (uuid_send(id))
  with (pages_per_range = 32, autosummarize = on);
create index deposits_of_transfer on satrail.deposits (ledger_tx_id);
create unique index deposits_outpoint on satrail.deposits (chain_tx_id, vout) where chain_tx_id is not null;
create index deposits_by_height on satrail.deposits (height) where height is not null;
create index deposits_in_blocks on satrail.deposits (id)
  where rail = 'on_chain' and status = 'pending' and height is not null;
create index deposits_in_no_block on satrail.deposits (id)
  where rail = 'on_chain' and status = 'pending' and height is null and chain_tx_id is not null;
-- Deposits whose transaction was given up: a reorganization can bring it back.
create index deposits_given_up on satrail.deposits (id)
  where rail = 'on_chain' and status = 'failed' and revision > 0;

-- Payments without a known owner, and the company that an operator assigned one to. A payment has one owner.
create table satrail.unmatched (
  id uuid not null,
  company_id uuid not null,
  payment_hash text not null,
  received bigint not null check (received > 0),
  reason text not null,
  created_at_millis bigint not null,
  primary key (company_id, id)
);
create index unmatched_anywhere on satrail.unmatched (uuid_send(id));
create index unmatched_listed on satrail.unmatched (created_at_millis desc, uuid_send(id) desc);

create table satrail.suspense_assignments (
  id uuid not null,
  company_id uuid not null,
  unmatched_id uuid not null unique,
  unmatched_company_id uuid not null,
  ledger_tx_id uuid not null,
  amount bigint not null check (amount > 0),
  created_at_millis bigint not null,
  primary key (company_id, id)
);
create index suspense_assignments_of on satrail.suspense_assignments (unmatched_company_id);

-- Sending

create table satrail.withdrawals (
  id uuid not null,
  company_id uuid not null,
  ledger_tx_id uuid not null,
  amount bigint not null check (amount > 0),
  service_fee bigint not null check (service_fee >= 0),
  network_allowance bigint not null check (network_allowance >= 0),
  recipient text not null,
  recipient_type text not null,
  rail text not null check (rail in ('lightning', 'on_chain')),
  network text not null,
  metadata json not null,
  rate text,
  status text not null check (status in ('pending', 'settled', 'failed')),
  payment_hash text,
  payment_request text,
  chain_tx_id text,
  raw_tx text,
  dispatched_at_millis bigint,
  preimage text,
  network_fee bigint check (network_fee >= 0),
  payment_index text,
  failure text check ((status = 'failed') = (failure is not null)),
  created_at_millis bigint not null,
  updated_at_millis bigint not null,
  rate_at_millis bigint,
  success_action json,
  follows uuid, -- the withdrawal that leads the batch: one transaction pays them all
  refund_id uuid,
  counted json, -- the limits that it was counted against
  approval text check (approval in ('waiting', 'approved', 'rejected', 'expired')),
  approval_asked_by text,
  approval_by text,
  approval_expires_at_millis bigint,
  approval_at_millis bigint,
  reported_hash text,
  primary key (company_id, id),
  -- A withdrawal that waits for approval has no task. This check refuses any attempt to send or end it.
  check (
    approval is distinct from 'waiting'
    or (
      status = 'pending' and dispatched_at_millis is null
      and approval_expires_at_millis is not null and approval_at_millis is null
    )
  )
) with (fillfactor = 80);
create index withdrawals_listed
  on satrail.withdrawals (uuid_send(company_id), created_at_millis desc, id desc);
create index withdrawals_anywhere on satrail.withdrawals using brin (uuid_send(id))
  with (pages_per_range = 32, autosummarize = on);
create index withdrawals_of_transfer on satrail.withdrawals (ledger_tx_id);
create unique index withdrawals_payment_hash on satrail.withdrawals (payment_hash)
  where payment_hash is not null;
-- The hash that a node reported for a payment by offer. Not unique: another payment can have the same.
create index withdrawals_reported_hash on satrail.withdrawals (reported_hash)
  where reported_hash is not null;
create index withdrawals_by_transaction on satrail.withdrawals (chain_tx_id) where chain_tx_id is not null;
create index withdrawals_follow on satrail.withdrawals (follows, id) where follows is not null;
create index withdrawals_unapproved on satrail.withdrawals (approval_expires_at_millis)
  where approval = 'waiting';

-- Records by a hash of a metadata key with its value. Records without metadata have no rows here, so that
-- their commits write none.
create table satrail.invoices_labels (
  company_id uuid not null,
  label bigint not null,
  id uuid not null,
  primary key (company_id, label, id)
);

create table satrail.deposits_labels (
  company_id uuid not null,
  label bigint not null,
  id uuid not null,
  primary key (company_id, label, id)
);

create table satrail.withdrawals_labels (
  company_id uuid not null,
  label bigint not null,
  id uuid not null,
  primary key (company_id, label, id)
);

-- The on-chain wallet

create table satrail.key_ranges (
  id uuid primary key,
  wallet text not null,
  type text not null,
  branch integer not null check (branch in (0, 1)),
  first integer not null check (first >= 0),
  next integer not null check (next > first),
  unique (wallet, type, branch, first)
);

-- Coins that no payout spends. A credit or a payout adds them and the payout that spends them deletes them,
-- so the table is as large as the wallet, not its history. Coins of one amount are sorted after they are read.
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
create index unspent_largest on satrail.unspent (wallet, amount desc);

-- Coins that a payout spends.
create table satrail.coins (
  outpoint text primary key,
  company_id uuid not null,
  withdrawal_id uuid not null
);

-- Every transaction that was signed for a payout.
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
`
