/**
 * Of what lay in suspense, whose it became: a payment is one company's. What lies there is found by its id alone, and listed, by indexes that cannot serve what
 * looks for a row by its key (see Migration0014).
 */
export const script = `
create table satrail.suspense_assignments (
  id uuid not null,
  company_id uuid not null,
  unmatched_id uuid not null unique,
  unmatched_company_id uuid not null,
  ledger_tx_id uuid not null,
  amount bigint not null check (amount > 0),
  created_at_millis bigint not null,
  primary key (company_id, id)
);
create index suspense_assignments_of on satrail.suspense_assignments (unmatched_company_id);
create index unmatched_anywhere on satrail.unmatched (uuid_send(id));
create index unmatched_listed on satrail.unmatched (created_at_millis desc, uuid_send(id) desc);
`
