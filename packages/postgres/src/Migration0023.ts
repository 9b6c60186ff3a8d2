/** The payees that companies pay again. */
export const script = `
create table satrail.contacts (
  id uuid not null,
  company_id uuid not null,
  name text not null,
  destination text not null,
  recipient_type text not null,
  metadata json not null,
  status text not null check (status in ('active', 'archived')),
  revision integer not null,
  created_at_millis bigint not null,
  updated_at_millis bigint not null,
  primary key (company_id, id)
) with (fillfactor = 90);
`
