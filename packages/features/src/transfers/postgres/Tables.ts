/** Transfers between companies. Both keys begin with the company whose list they serve. */
export const migrations = {
  "0106_transfers": `
create table satrail.transfers (
  id uuid not null,
  company_id uuid not null,
  recipient_id uuid not null check (recipient_id <> company_id),
  ledger_tx_id uuid not null,
  amount bigint not null check (amount > 0),
  returned bigint not null check (returned >= 0 and returned <= amount),
  return_of uuid,
  returned_before bigint check ((return_of is null) = (returned_before is null)),
  description text not null,
  metadata json not null,
  rate text,
  rate_at_millis bigint,
  fiat_currency text,
  rate_source text,
  created_at_millis bigint not null,
  primary key (company_id, id)
) with (fillfactor = 90);
create unique index transfers_received on satrail.transfers (recipient_id, id);
create index transfers_ledger_tx on satrail.transfers (ledger_tx_id);
create unique index transfers_returns on satrail.transfers (return_of, returned_before) where return_of is not null;
`,
  "0107_transfer_deposits": `
alter table satrail.transfers add column deposit_id uuid;
create unique index transfers_deposits on satrail.transfers (deposit_id, recipient_id) where deposit_id is not null;
`
}
