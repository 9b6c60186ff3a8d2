import { numberOf } from "../statements/Labels.ts"

/** Index of a record type's search terms: each metadata value, without its key. */
const values = (table: string) => `
insert into satrail.${table}_labels (company_id, label, id)
select distinct r.company_id, ${numberOf("''", "lower(m.value)")}, r.id from satrail.${table} r cross join lateral json_each_text(r.metadata) m
where r.metadata::text <> '{}'
on conflict do nothing;`

/** Indexes that find records by metadata value and by amount, and a transfer's postings. */
export const script = `
create index deposits_amount on satrail.deposits (uuid_send(company_id), amount);
create index withdrawals_amount on satrail.withdrawals (uuid_send(company_id), amount);
create index entries_of_transfer on satrail.entries using brin (transfer_id uuid_minmax_multi_ops)
  with (pages_per_range = 32, autosummarize = on);

-- The first entry that may be of this time or later. A company's entries are nearly in the order of their times.
create function satrail.entry_since(of_company uuid, since bigint) returns bigint
  language plpgsql stable as
$$ declare
  low bigint;
  high bigint;
  middle bigint;
  entry record;
begin
  select min(id), max(id) into low, high from satrail.entries where company_id = of_company;
  while low < high loop
    middle := low + (high - low) / 2;
    select id, at_millis into entry from satrail.entries where company_id = of_company and id > middle order by id limit 1;
    if entry.at_millis >= since then
      high := middle;
    else
      low := entry.id;
    end if;
  end loop;
  return coalesce(low, 0);
end $$;
${["invoices", "deposits", "withdrawals"].map(values).join("\n")}`
