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

/** People who sign in with a passkey, and their sessions. */
export const migrations = { "0081_people": people }

/** Columns that the reader may select. The reader does not need an invitation's hash. */
export const readable = {
  people: `id, company_id, name, role, status, vouched_by, passkeys, uses, invited_until_millis, waiting, epoch,
  revision, created_at_millis, updated_at_millis`
}
