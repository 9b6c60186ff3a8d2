/** The pictures on the pages of companies' checkouts: one of a company, a few dozen kilobytes each. */
export const script = `
create table satrail.logos (
  id uuid not null,
  company_id uuid not null,
  public_id text not null,
  picture json,
  created_at_millis bigint not null,
  updated_at_millis bigint not null,
  primary key (company_id, id)
);
create unique index logos_public_id on satrail.logos (public_id);
`
