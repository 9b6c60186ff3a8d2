/** The API key that asked for an invoice. */
export const script = `
alter table satrail.invoices add column api_key_id text;
`
