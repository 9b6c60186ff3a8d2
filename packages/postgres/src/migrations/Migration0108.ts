/** Companies that get a share of a payment. */
export const script = `
alter table satrail.invoices add column splits json;
alter table satrail.on_chain_addresses add column splits json;
alter table satrail.lightning_addresses add column splits json;
alter table satrail.deposits add column splits json;
`
