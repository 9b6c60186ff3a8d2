/** What owners decide about their Lightning addresses, and what wallets say when they ask for an invoice there. */
export const script = `
alter table satrail.lightning_addresses
  add column min_sendable bigint check (min_sendable > 0),
  add column max_sendable bigint check (max_sendable > 0),
  add column success_message text;

alter table satrail.invoices add column callback json;
`
