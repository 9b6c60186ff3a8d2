/** The currency and the source of a rate, which earlier versions did not store with it. */
export const script = `
alter table satrail.invoices add column fiat_currency text, add column rate_source text;
alter table satrail.withdrawals add column fiat_currency text, add column rate_source text;
`
