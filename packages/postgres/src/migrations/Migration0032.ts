/**
 * Who did what. An entry's id is made as an event's is, so that none turns up behind one that was linked. Lists of a company go by links, which are written
 * after the commit: a commit writes one index. Theirs has bytes in it, so that it serves nothing else (see
 * Migration0014).
 */
export const script = `
create table satrail.audit_entries (
  id bigint primary key,
  company_id uuid not null,
  at_millis bigint not null,
  body text not null
);

create table satrail.audit_links (
  entry_id bigint primary key,
  company_id uuid not null,
  seq bigint not null,
  hash text not null,
  whole text not null
);
create index audit_links_of on satrail.audit_links (uuid_send(company_id), int8send(entry_id));
`
