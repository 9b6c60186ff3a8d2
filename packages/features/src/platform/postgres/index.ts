import * as Feature from "@satrail/postgres/client/Feature"

const keys = `
create table satrail.platform_keys (
  id uuid not null,
  company_id uuid not null,
  name text not null,
  secret_hash text not null,
  scopes json not null,
  limits json,
  allowed_from json,
  created_at_millis bigint not null,
  expires_at_millis bigint,
  revoked_at_millis bigint,
  requested_by_id text,
  requested_by text,
  approved_by text,
  approved_at_millis bigint,
  primary key (company_id, id),
  check ((requested_by_id is null) = (requested_by is null)),
  check ((approved_by is null) = (approved_at_millis is null)),
  check (approved_by is null or approved_by <> requested_by)
);
create unique index platform_keys_secret_hash on satrail.platform_keys (secret_hash);
`

/** Keys that act for all accounts. A constraint also requires that a second operator approves each one. */
export const platform = Feature.make({
  migrations: { "0103_platform_keys": keys },
  readable: {
    platform_keys: `id, company_id, name, scopes, limits, allowed_from, created_at_millis, expires_at_millis,
  revoked_at_millis, requested_by_id, requested_by, approved_by, approved_at_millis`
  }
})
