/**
 * Requests by one operator that another must confirm. Earlier ones are lost, and must be made again: those to release
 * a withdrawal, and those to assign a payment in suspense, which had a table of their own during development.
 */
export const script = `
delete from satrail.cursors where source like 'release of %';
drop table if exists satrail.suspense_requests;
create table satrail.operator_requests (
  id uuid not null,
  company_id uuid not null,
  action text not null,
  to_company_id uuid,
  requested_by_id text not null,
  requested_by text not null,
  until_millis bigint not null,
  primary key (company_id, id)
);
`
