/** Invoices whose payer decides what to pay, and what is expected of such a payer. */
export const script = `
alter table satrail.invoices
  alter column amount drop not null,
  add column min_amount bigint check (min_amount > 0),
  add column max_amount bigint check (max_amount > 0);
`
