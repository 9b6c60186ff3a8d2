/** Adjustments by operators. A table constraint also requires that a second operator approves each one. */
export const tables = `
create table satrail.adjustments (
  id uuid not null,
  company_id uuid not null,
  ledger_tx_id uuid not null,
  amount bigint not null check (amount <> 0),
  reason text not null,
  note text,
  requested_by_id text not null,
  requested_by text not null,
  status text not null check (status in ('pending', 'booked', 'rejected')),
  decided_by text,
  decided_at_millis bigint,
  created_at_millis bigint not null,
  primary key (company_id, id),
  check (
    (status = 'pending') = (decided_by is null)
    and (decided_by is null) = (decided_at_millis is null)
  ),
  check (status <> 'booked' or decided_by <> requested_by)
);
create index adjustments_anywhere on satrail.adjustments (uuid_send(id));
create index adjustments_listed on satrail.adjustments (created_at_millis desc, (id::text) collate "C" desc);
create index adjustments_booked
  on satrail.adjustments (uuid_send(company_id), decided_at_millis desc, id desc) where status = 'booked';
`
