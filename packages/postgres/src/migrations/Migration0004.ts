/** When the rate that something was priced at was one, and what a recipient's server wants shown once it is paid. */
export const script = `
alter table satrail.invoices add column rate_at_millis bigint;
alter table satrail.withdrawals add column rate_at_millis bigint, add column success_action json;
`
