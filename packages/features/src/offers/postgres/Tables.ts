/** BOLT 12 offers that the node issued, each for one company. A Lightning address has at most one offer. */
export const tables = `
create table satrail.offers (
  id uuid not null,
  company_id uuid not null,
  node_id text not null,
  offer text not null,
  memo text not null,
  metadata json not null,
  lightning_address_id uuid,
  lightning_address text,
  created_at_millis bigint not null,
  primary key (company_id, id)
);
create unique index offers_id on satrail.offers (id);
create unique index offers_lightning_address_id on satrail.offers (lightning_address_id);
-- Looked up by the whole text. A hash index takes a text of any length; a B-tree has a maximum.
create index offers_offer on satrail.offers using hash (offer);
`
