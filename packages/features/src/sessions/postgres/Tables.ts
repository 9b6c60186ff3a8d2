/** Sessions of the console. Each key or token has a limited number of slots. */
export const tables = `
create table satrail.console_sessions (
  id uuid not null,
  company_id uuid not null,
  holder text not null check (holder in ('key', 'token', 'root')),
  holder_id text not null,
  slot integer not null,
  secret_hash text not null,
  created_at_millis bigint not null,
  expires_at_millis bigint not null,
  stepped_up_at_millis bigint,
  ended_at_millis bigint,
  primary key (company_id, id)
);
create unique index console_sessions_holder_id_slot on satrail.console_sessions (holder_id, slot);
`

/** Ends the sessions of earlier versions, whose hashes need no key. Users sign in again. */
export const migrations = { "0094_bound_sessions": "delete from satrail.console_sessions" }

/** Columns that the reader may select. The reader does not need the hash of a session's secret. */
export const readable = {
  console_sessions: `id, company_id, holder, holder_id, slot, created_at_millis, expires_at_millis, stepped_up_at_millis,
  ended_at_millis`
}
