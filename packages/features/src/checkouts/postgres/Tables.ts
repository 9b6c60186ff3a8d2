/** Checkouts. The index contains only deposits that belong to a checkout. */
export const tables = `
create table satrail.checkouts (
  id uuid not null,
  company_id uuid not null,
  public_id text not null,
  domain text not null,
  amount bigint check (amount > 0),
  fiat_amount text,
  fiat_currency text,
  rate text,
  rate_at_millis bigint,
  tolerance_percent integer not null,
  description text not null,
  order_id text,
  metadata json not null,
  return_url text,
  cancel_url text,
  locale text not null check (locale in ('en', 'de', 'es', 'fr', 'pt', 'ar')),
  invoice_id uuid not null,
  payment_request text not null,
  on_chain_address_id uuid not null,
  address text not null,
  status text not null check (status in ('open', 'underpaid', 'paid', 'expired', 'canceled')),
  received bigint not null check (received >= 0),
  paid_at_millis bigint,
  ended_at_millis bigint,
  revision integer not null,
  created_at_millis bigint not null,
  expires_at_millis bigint not null,
  updated_at_millis bigint not null,
  embed_origin text,
  color text,
  primary key (company_id, id)
) with (fillfactor = 90);
create unique index checkouts_public_id on satrail.checkouts (public_id);
create index deposits_of_checkout on satrail.deposits (checkout_id) where checkout_id is not null;
`

const choices = `
-- During development, migration 0082 created this index.
create index if not exists checkouts_order on satrail.checkouts (uuid_send(company_id), (lower(order_id) collate "C")) where order_id is not null;
alter table satrail.checkouts
  add column options json not null default '[]',
  add column contact text,
  add column tip_percent integer check (tip_percent between 0 and 100),
  add column payer_email text,
  add column quoted_at_millis bigint;
`

const deducted = `
alter table satrail.checkouts add column deducted bigint not null default 0 check (deducted >= 0);
update satrail.checkouts set deducted = received where received > 0 and status in ('open', 'underpaid');
`

const localeSource = `
alter table satrail.checkouts add column locale_source text not null default 'seller' check (locale_source in ('seller', 'browser'));
`

/** Lists an order's checkouts, newest first. */
const ofOrder = `
create index checkouts_of_order on satrail.checkouts (uuid_send(company_id), hashtextextended(order_id, 0), uuid_send(id)) where order_id is not null;
`

/** Finds checkouts by the email address of their payer. */
const payers = `
create index checkouts_payer on satrail.checkouts (uuid_send(company_id), (lower(payer_email) collate "C")) where payer_email is not null;
`

/** Sellers' options, the choices that payers make on the page, and an index that finds checkouts by order; what an invoice does not ask for; whether the payer's browser chooses the language. */
export const migrations = {
  "0083_checkout_choices": choices,
  "0088_checkout_deducted": deducted,
  "0089_checkout_language": localeSource,
  "0093_checkouts_of_order": ofOrder,
  "0102_checkout_rates": "alter table satrail.checkouts add column rate_source text",
  "0104_checkout_payers": payers,
  "0109_checkout_splits": "alter table satrail.checkouts add column splits json"
}
