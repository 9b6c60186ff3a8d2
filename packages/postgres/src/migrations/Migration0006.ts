/**
 * Domains are looked after: who showed them to be their company's, and whether that can still be seen. Until now it was always
 * the operator, and a process of the version before knows nobody else.
 */
export const script = `
alter table satrail.domains
  add column shown_by text not null default 'operator' check (shown_by in ('operator', 'dns')),
  add column checked_at_millis bigint not null default 0,
  add column lost_at_millis bigint;
update satrail.domains set checked_at_millis = verified_at_millis;
create index domains_to_check on satrail.domains (domain collate "C") where shown_by = 'dns';
`
