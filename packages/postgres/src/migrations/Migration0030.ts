import { places } from "@satrail/core/ledger/Limit"

// What was sent is counted in buckets, of each window as many as there are places: a bucket takes the place of the one that left its window, so nothing grows.
// A commit locks its company's balance first. Its statement may have begun before that, and not see what another one counted while it waited: what a volatile
// function reads, it reads anew.
/** Limits of keys and companies, and what counts against them. */
export const script = `
alter table satrail.api_keys add column limits json, add column spends_as text;
alter table satrail.companies add column limits json;
alter table satrail.withdrawals add column counted json;
alter table satrail.vouchers add column counted json;

create table satrail.spent (
  company_id uuid not null,
  subject text not null,
  span text not null check (span in ('hour', 'day', 'month')),
  place integer not null check (place between 0 and ${places - 1}),
  bucket bigint not null,
  amount bigint not null check (amount >= 0),
  times integer not null check (times >= 0),
  primary key (company_id, subject, span, place)
) with (fillfactor = 20);

create function satrail.spent_since(of_company uuid, of_subject text, of_span text, is_times boolean, since bigint) returns bigint
  language plpgsql volatile as
$$ begin
  return (
    select coalesce(sum(case when is_times then times else amount end), 0)::bigint from satrail.spent
    where company_id = of_company and subject = of_subject and span = of_span and bucket >= since
  );
end $$;

-- fits(rooms, at, needs): the rooms after every ask that fits into all of its own, in order. The first of them is none: there it says which room was too small for
-- this one, or 0.
create function satrail.fits_step(left_over bigint[], rooms bigint[], at integer[], needs bigint[]) returns bigint[]
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
create aggregate satrail.fits(rooms bigint[], at integer[], needs bigint[]) (sfunc = satrail.fits_step, stype = bigint[]);
`
