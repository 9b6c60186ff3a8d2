/** Money held for the first person who claims it. */
export const tables = `
create table satrail.vouchers (
  id uuid not null,
  company_id uuid not null,
  ledger_tx_id uuid not null,
  amount bigint not null check (amount > 0),
  service_fee bigint not null check (service_fee >= 0),
  network_allowance bigint not null check (network_allowance >= 0),
  description text not null,
  metadata json not null,
  rate text,
  rate_at_millis bigint,
  secret_hash text not null,
  status text not null check (status in ('open', 'claimed', 'expired', 'canceled')),
  withdrawal_id uuid check ((status = 'claimed') = (withdrawal_id is not null)),
  created_at_millis bigint not null,
  expires_at_millis bigint not null,
  updated_at_millis bigint not null,
  refund_id uuid,
  counted json,
  primary key (company_id, id)
) with (fillfactor = 90);
create unique index vouchers_secret_hash on satrail.vouchers (secret_hash);
`

export const migrations = {
  "0091_voucher_makers": "alter table satrail.vouchers add column created_by text",
  "0098_open_vouchers": `create index vouchers_open_by_maker on satrail.vouchers (uuid_send(company_id), created_by collate "C", uuid_send(id))
    where status = 'open'`,
  "0101_voucher_rates":
    "alter table satrail.vouchers add column fiat_currency text, add column rate_source text",
  "0105_voucher_transfers": "create index vouchers_of_transfer on satrail.vouchers (ledger_tx_id)",
  // A platform key creates vouchers of many companies.
  "0110_open_vouchers_of_any_company": `drop index satrail.vouchers_open_by_maker;
    create index vouchers_open_by_maker on satrail.vouchers (created_by collate "C") where status = 'open'`
}
