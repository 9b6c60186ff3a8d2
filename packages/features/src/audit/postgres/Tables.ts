/**
 * The audit log and its hash chain. The head of the chain is in `cursors`.
 *
 * Entry ids are built like event ids, so that no entry can appear behind one that is already linked. A
 * company's lists read the links, which are written after the commit so that the commit itself writes to only
 * one index.
 */
export const tables = `
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
  whole text not null,
  place bigint not null -- in the chain of all companies
);
create index audit_links_of on satrail.audit_links (uuid_send(company_id), int8send(entry_id));
`

/** Entries and links can only be added. */
export const rights = { audit_entries: "select, insert", audit_links: "select, insert" }
