/** Tokens of those who operate the service, beside the configured one. */
export const script = `
create table satrail.operator_tokens (
  id uuid not null,
  company_id uuid not null,
  name text not null,
  secret_hash text not null,
  scopes json not null,
  created_at_millis bigint not null,
  revoked_at_millis bigint,
  primary key (company_id, id)
);
create unique index operator_tokens_secret_hash on satrail.operator_tokens (secret_hash);
`
