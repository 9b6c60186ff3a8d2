/** Webhook endpoints and their deliveries. Each list of a company or an endpoint has an index. */
export const tables = `
create table satrail.webhook_endpoints (
  id uuid not null,
  company_id uuid not null,
  url text not null,
  description text not null,
  types json not null,
  signature_header text,
  secret text not null,
  previous_secret text,
  previous_until_millis bigint,
  status text not null check (status in ('enabled', 'disabled', 'deleted')),
  disabled_reason text check (disabled_reason in ('owner', 'gone', 'failing')),
  cursor text not null,
  epoch integer not null check (epoch >= 0),
  failing_since_millis bigint,
  created_at_millis bigint not null,
  updated_at_millis bigint not null,
  primary key (company_id, id)
) with (fillfactor = 50);
create index webhook_endpoints_of on satrail.webhook_endpoints (uuid_send(company_id), uuid_send(id))
  where status <> 'deleted';
create index webhook_endpoints_enabled on satrail.webhook_endpoints (uuid_send(id)) where status = 'enabled';

create table satrail.webhook_deliveries (
  id uuid not null,
  company_id uuid not null,
  endpoint_id uuid not null,
  epoch integer not null check (epoch >= 0),
  place text collate "C" not null,
  event_company_id uuid not null,
  type text not null,
  record_id text not null,
  status text not null check (status in ('pending', 'delivered', 'failed')),
  attempts integer not null check (attempts >= 0),
  next_at_millis bigint check ((status = 'pending') = (next_at_millis is not null)),
  last_at_millis bigint,
  duration_millis bigint,
  answered integer,
  response text,
  created_at_millis bigint not null,
  primary key (company_id, id)
) with (fillfactor = 80);
create unique index webhook_deliveries_place on satrail.webhook_deliveries (endpoint_id, epoch, place);
create index webhook_deliveries_to on satrail.webhook_deliveries (uuid_send(endpoint_id), uuid_send(id));
create index webhook_deliveries_pending on satrail.webhook_deliveries (uuid_send(endpoint_id), uuid_send(id))
  where status = 'pending';
create index webhook_deliveries_old on satrail.webhook_deliveries (uuid_send(id));
`

/** Columns that the reader may select. The reader does not need an endpoint's secrets. */
export const readable = {
  webhook_endpoints: `id, company_id, url, description, types, signature_header, status, disabled_reason, cursor, epoch,
  failing_since_millis, created_at_millis, updated_at_millis`
}

/** Completed deliveries are deleted. */
export const deletes = ["webhook_deliveries"]

export const migrations = {
  "0111_delivery_attempts":
    "alter table satrail.webhook_deliveries add column earlier json not null default '[]'"
}
