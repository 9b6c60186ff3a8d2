// Everything is in a schema of its own, so that a host may give us a database that has tables already.
// company_id leads every primary key, so that the data can be spread by company later. What is looked up by a name from outside
// (a hash, a handle, a script) has an index of its own.
// Times are milliseconds since 1970, amounts are millisatoshis.
/** Every table of the first version. */
export const script = `
create table satrail.companies (
  id uuid primary key,
  name text not null,
  plan text not null check (plan in ('free', 'paid')),
  created_at_millis bigint not null
);

create table satrail.balances (
  company_id uuid primary key,
  posted bigint not null default 0 check (posted >= held),
  held bigint not null default 0 check (held >= 0)
) with (fillfactor = 20); -- room for new versions on the same page: an update touches no index

create table satrail.domains (
  domain text not null unique,
  company_id uuid not null,
  verified_at_millis bigint not null,
  primary key (company_id, domain)
);

create table satrail.api_keys (
  id text not null unique,
  company_id uuid not null,
  name text not null,
  secret_hash text not null,
  scopes json not null,
  created_at_millis bigint not null,
  expires_at_millis bigint,
  revoked_at_millis bigint,
  last_used_at_millis bigint,
  primary key (company_id, id)
) with (fillfactor = 80);

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
  primary key (company_id, id)
);

create table satrail.invoices (
  id uuid not null,
  company_id uuid not null,
  node_id text not null,
  memo text not null,
  amount bigint not null check (amount > 0),
  payment_hash text not null unique,
  payment_request text not null,
  metadata json not null,
  lightning_address_id uuid,
  rate text,
  status text not null check (status in ('pending', 'claimed', 'settled', 'expired')),
  received bigint check (received > 0),
  preimage text,
  claimed_by uuid check (status <> 'claimed' or claimed_by is not null),
  created_at_millis bigint not null,
  expires_at_millis bigint not null,
  settled_at_millis bigint,
  primary key (company_id, id),
  check (status <> 'settled' or (received is not null and settled_at_millis is not null))
) with (fillfactor = 90);
create index invoices_open on satrail.invoices (id) where status in ('pending', 'claimed');

create table satrail.unmatched (
  id uuid not null,
  company_id uuid not null,
  payment_hash text not null,
  received bigint not null check (received > 0),
  reason text not null,
  created_at_millis bigint not null,
  primary key (company_id, id)
);

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
  primary key (company_id, id),
  check ((chain_tx_id is null) = (vout is null))
) with (fillfactor = 90);
create index deposits_listed on satrail.deposits (company_id, created_at_millis desc, id desc);
create unique index deposits_outpoint on satrail.deposits (chain_tx_id, vout) where chain_tx_id is not null;
create index deposits_in_blocks on satrail.deposits (id) where rail = 'on_chain' and status = 'pending' and height is not null;

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
  primary key (company_id, id)
) with (fillfactor = 80);
create index withdrawals_listed on satrail.withdrawals (company_id, created_at_millis desc, id desc);
create unique index withdrawals_payment_hash on satrail.withdrawals (payment_hash) where payment_hash is not null;

create table satrail.coins (
  outpoint text primary key,
  company_id uuid not null,
  withdrawal_id uuid not null
);

-- Found by the id in its fence, which says no company.
create table satrail.tasks (
  id uuid primary key,
  company_id uuid not null,
  due_at_millis bigint not null,
  token integer not null default 0,
  attempts integer not null default 0
);
create index tasks_due on satrail.tasks (due_at_millis, id);

create table satrail.entries (
  company_id uuid not null,
  id bigint generated always as identity,
  transfer_id uuid not null,
  from_account text not null,
  to_account text not null check (to_account <> from_account),
  amount bigint not null check (amount > 0),
  at_millis bigint not null,
  primary key (company_id, id)
);

create table satrail.answers (
  owner text not null,
  key text not null,
  fingerprint text not null,
  answer text not null,
  forget_at_millis bigint,
  primary key (owner, key)
);
create index answers_forgotten on satrail.answers (forget_at_millis) where forget_at_millis is not null;

create table satrail.events (
  id bigint primary key,
  company_id uuid not null,
  type text not null,
  subject text not null,
  at_millis bigint not null
);

create table satrail.cursors (
  source text primary key,
  value text not null
);

-- One row: how many transactions the server had seen when event ids began. Its key keeps a scan out of the plans.
create table satrail.epoch (id integer primary key check (id = 1), transactions bigint not null);
insert into satrail.epoch select 1, pg_current_xact_id()::text::bigint - 1;

-- left_after(available, need): what is left once every need that fits, in order, has been granted.
create function satrail.left_after_step(left_over bigint, available bigint, need bigint) returns bigint
  language plpgsql immutable parallel safe as
$$ begin
  left_over := coalesce(left_over, available);
  return case when need <= left_over then left_over - need else left_over end;
end $$;
create aggregate satrail.left_after(available bigint, need bigint) (sfunc = satrail.left_after_step, stype = bigint);
`
