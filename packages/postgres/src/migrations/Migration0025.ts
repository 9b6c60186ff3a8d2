/** Invoices that their company cancels. What the node has yet to close is looked up as what is open. */
export const script = `
alter table satrail.invoices add column canceled_at_millis bigint;
alter table satrail.invoices drop constraint invoices_status_check;
alter table satrail.invoices add constraint invoices_status_check
  check (status in ('pending', 'claimed', 'settled', 'expired', 'canceling', 'canceled'));
alter table satrail.invoices add check (status not in ('canceling', 'canceled') or canceled_at_millis is not null);
drop index satrail.invoices_open;
create index invoices_open on satrail.invoices (id) where status in ('pending', 'claimed', 'canceling');
`
