/** Companies and their access, the ledger, events, and the work of processes. See the rules in `Baseline.ts`. */
export const tables = `
-- Companies and access

create table satrail.companies (
  id uuid primary key,
  name text not null,
  plan text not null check (plan in ('free', 'paid')),
  created_at_millis bigint not null,
  limits json,
  frozen json,
  fees json, -- instead of the plan's
  fees_revision integer not null default 0,
  loosening json -- requested by one operator, in effect once a second one requests it too
);

create table satrail.domains (
  domain text not null unique,
  company_id uuid not null,
  verified_at_millis bigint not null,
  shown_by text not null default 'operator' check (shown_by in ('operator', 'dns')),
  checked_at_millis bigint not null default 0,
  lost_at_millis bigint,
  primary key (company_id, domain)
);
create index domains_to_check on satrail.domains (domain collate "C") where shown_by = 'dns';

create table satrail.api_keys (
  id text not null unique,
  company_id uuid not null,
  name text not null,
  secret_hash text not null,
  scopes json not null,
  created_at_millis bigint not null,
  expires_at_millis bigint,
  revoked_at_millis bigint,
  last_used_at_millis bigint,
  limits json,
  spends_as text, -- the first of the keys that this one replaces: they share their limits
  allowed_from json,
  approval json,
  approved_by text,
  approved_at_millis bigint,
  loosening json,
  primary key (company_id, id),
  constraint api_keys_approved_by_another check (
    (approved_by is null) = (approved_at_millis is null)
    and (approved_by is null or approval ->> 'requestedBy' <> approved_by)
  )
) with (fillfactor = 80);
create index api_keys_listed on satrail.api_keys (uuid_send(company_id), created_at_millis desc);

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

-- Ledger

-- A commit for a company locks its balance, and reads there whether the company is frozen and which revision
-- of its fees applies. The free space keeps new versions of a row on its page, so that no index changes.
create table satrail.balances (
  company_id uuid primary key,
  posted bigint not null default 0 check (posted >= held),
  held bigint not null default 0 check (held >= 0),
  frozen boolean not null default false,
  fees_revision integer not null default 0
) with (fillfactor = 20);

create table satrail.entries (
  company_id uuid not null,
  id bigint generated always as identity,
  transfer_id uuid not null,
  from_account text not null,
  to_account text not null check (to_account <> from_account),
  amount bigint not null check (amount > 0),
  at_millis bigint not null,
  primary key (company_id, id)
);
create index entries_since on satrail.entries using brin (id)
  with (pages_per_range = 32, autosummarize = on);

-- left_after(available, need): what is left once every need that fits, in order, has been granted.
create function satrail.left_after_step(left_over bigint, available bigint, need bigint) returns bigint
  language plpgsql immutable parallel safe as
$$ begin
  left_over := coalesce(left_over, available);
  return case when need <= left_over then left_over - need else left_over end;
end $$;
create aggregate satrail.left_after(available bigint, need bigint) (
  sfunc = satrail.left_after_step,
  stype = bigint
);

-- Withdrawals counted against limits, in buckets of time. Each window has 64 places (core/ledger/Limit), and
-- a new bucket reuses the place of one that has left the window, so the table doesn't grow.
create table satrail.spent (
  company_id uuid not null,
  subject text not null,
  span text not null check (span in ('hour', 'day', 'month')),
  place integer not null check (place between 0 and 63),
  bucket bigint not null,
  amount bigint not null check (amount >= 0),
  times integer not null check (times >= 0),
  primary key (company_id, subject, span, place)
) with (fillfactor = 20);

-- Volatile, so that it sees what other commits counted while this one waited for the balance's lock. The
-- snapshot of the statement is older than that.
create function satrail.spent_since(
  of_company uuid, of_subject text, of_span text, is_times boolean, since bigint
) returns bigint
  language plpgsql volatile as
$$ begin
  return (
    select coalesce(sum(case when is_times then times else amount end), 0)::bigint from satrail.spent
    where company_id = of_company and subject = of_subject and span = of_span and bucket >= since
  );
end $$;

-- fits(rooms, at, needs): the room left under each limit after every request that fits all of its own, in
-- order. The first element is not a limit: it is the number of the limit the last request exceeded, or 0.
create function satrail.fits_step(
  left_over bigint[], rooms bigint[], at integer[], needs bigint[]
) returns bigint[]
  language plpgsql immutable parallel safe as
$$ begin
  left_over := coalesce(left_over, rooms);
  left_over[1] := 0;
  for i in 1 .. cardinality(at) loop
    if needs[i] > left_over[at[i]] then
      left_over[1] := at[i];
      return left_over;
    end if;
  end loop;
  for i in 1 .. cardinality(at) loop
    left_over[at[i]] := left_over[at[i]] - needs[i];
  end loop;
  return left_over;
end $$;
create aggregate satrail.fits(rooms bigint[], at integer[], needs bigint[]) (
  sfunc = satrail.fits_step,
  stype = bigint[]
);

-- Events

create table satrail.events (
  id bigint primary key,
  company_id uuid not null,
  type text not null,
  subject text not null,
  at_millis bigint not null
);
create index events_of_company on satrail.events (company_id, id);

-- The text of an event, stored when it is first read, so that it never changes.
create table satrail.told_events (
  id bigint primary key,
  company_id uuid not null,
  tellings text not null
);

-- The last event of each company that was deleted.
create table satrail.forgotten_events (
  company_id uuid primary key,
  until bigint not null
);

-- One row: how many transactions the server had run when event ids began. The key keeps a scan out of plans.
create table satrail.epoch (
  id integer primary key check (id = 1),
  transactions bigint not null
);
insert into satrail.epoch select 1, pg_current_xact_id()::text::bigint - 1;

-- Work

-- Found by the id in its fence, which contains no company.
create table satrail.tasks (
  id uuid primary key,
  company_id uuid not null,
  due_at_millis bigint not null,
  token integer not null default 0,
  attempts integer not null default 0,
  kind text not null default 'withdrawal',
  lane text collate "C" not null default '',
  holder uuid
);
create index tasks_due on satrail.tasks (kind, due_at_millis, id);
-- Companies and their lanes take turns, so that none delays the others.
create index tasks_turns on satrail.tasks (kind, company_id, lane, due_at_millis, id);
create index tasks_holder on satrail.tasks (holder) where holder is not null;

-- Processes that are alive. The tasks of one that was killed are taken over before their claims end.
create table satrail.processes (
  id uuid primary key,
  alive_until_millis bigint not null
);

create table satrail.cursors (
  source text primary key,
  value text not null
);

-- Responses to repeat for an idempotency key.
create table satrail.answers (
  owner text not null,
  key text not null,
  fingerprint text not null,
  answer text not null,
  forget_at_millis bigint,
  primary key (owner, key)
);
create index answers_forgotten on satrail.answers (forget_at_millis) where forget_at_millis is not null;
`
