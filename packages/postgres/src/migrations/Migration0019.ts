/**
 * A company's events are read by the company's own index, and what an event was told as is kept from the first time that it is told. Events of earlier versions
 * need nothing: they are told when somebody reads them.
 */
export const script = `
create index events_of_company on satrail.events (company_id, id);

create table satrail.told_events (
  id bigint primary key,
  company_id uuid not null,
  tellings text not null
);

create table satrail.forgotten_events (
  company_id uuid primary key,
  until bigint not null
);
`
