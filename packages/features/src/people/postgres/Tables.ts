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

const people = `
create table satrail.people (
  id uuid not null,
  company_id uuid not null,
  name text not null,
  role text not null check (role in ('viewer', 'bookkeeper', 'operator', 'admin')),
  status text not null check (status in ('invited', 'active', 'removed')),
  vouched_by text,
  passkeys json not null,
  uses json not null,
  secret_hash text,
  invited_until_millis bigint,
  waiting json,
  epoch integer not null,
  revision uuid not null,
  created_at_millis bigint not null,
  updated_at_millis bigint not null,
  primary key (company_id, id)
) with (fillfactor = 90);
create unique index people_id on satrail.people (id);
alter table satrail.console_sessions drop constraint console_sessions_holder_check;
alter table satrail.console_sessions add constraint console_sessions_holder_check
  check (holder in ('key', 'token', 'root', 'person'));
`

// Ends the sessions of earlier versions, whose hashes need no key. Users sign in again.
const boundSessions = "delete from satrail.console_sessions"

/** People who sign in with a passkey, and their sessions. */
export const migrations = { "0081_people": people, "0094_bound_sessions": boundSessions }

/** Columns that the reader may select. The reader does not need the hashes of invitations and sessions. */
export const readable = {
  people: `id, company_id, name, role, status, vouched_by, passkeys, uses, invited_until_millis, waiting, epoch,
  revision, created_at_millis, updated_at_millis`,
  console_sessions: `id, company_id, holder, holder_id, slot, created_at_millis, expires_at_millis, stepped_up_at_millis,
  ended_at_millis`
}
