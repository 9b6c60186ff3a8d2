/** Apps that use an API key over Nostr Wallet Connect. A key has at most one app. */
export const tables = `
create table satrail.wallet_connections (
  id uuid not null,
  company_id uuid not null,
  api_key_id text not null,
  app_key text not null,
  created_at_millis bigint not null,
  primary key (company_id, id)
);
create unique index wallet_connections_api_key_id on satrail.wallet_connections (api_key_id);
create unique index wallet_connections_app_key on satrail.wallet_connections (app_key);
`
