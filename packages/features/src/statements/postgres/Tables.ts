/** The time until which a company's books are closed, and the last entry of each closed month. */
export const tables = `
create table satrail.month_ends (
  id uuid not null,
  company_id uuid not null,
  number integer not null check (number > 0),
  until_millis bigint not null,
  last_entry text not null,
  created_at_millis bigint not null,
  primary key (company_id, id)
);
create unique index month_ends_company_id_number on satrail.month_ends (company_id, number);
`
