/** Requests to assign payments in suspense, which wait for a second operator. */
export const script = `
create table satrail.suspense_requests (
  id uuid not null,
  company_id uuid not null,
  to_company_id uuid not null,
  requested_by_id text not null,
  requested_by text not null,
  created_at_millis bigint not null,
  primary key (company_id, id)
);
`
