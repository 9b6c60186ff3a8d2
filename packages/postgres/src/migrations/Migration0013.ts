/** What wallets asked for and have not paid: counted while it may be paid, and forgotten afterwards. */
export const script = `
create index invoices_for_wallets on satrail.invoices (expires_at_millis, id) include (lightning_address_id)
  where lightning_address_id is not null and status = 'pending';
`
