/** Offers (BOLT 12) that the node issued, each for one company; a Lightning address has one at most. */
export const script = `
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
`
