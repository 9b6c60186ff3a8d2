/** Hold invoices: who has the preimage, and what the node holds until when. */
export const script = `
alter table satrail.invoices
  add column hold text check (hold in ('node', 'company')),
  add column held bigint check (held > 0),
  add column held_until_millis bigint;
alter table satrail.invoices drop constraint invoices_status_check;
alter table satrail.invoices add constraint invoices_status_check
  check (status in ('pending', 'claimed', 'held', 'settling', 'settled', 'expired', 'canceling', 'canceled'));
alter table satrail.invoices add check (status not in ('held', 'settling') or (held is not null and held_until_millis is not null));
`
