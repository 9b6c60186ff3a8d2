/** Which process holds a task, and which processes are alive: what a killed one held is taken over before its claim ends. */
export const script = `
create table satrail.processes (id uuid primary key, alive_until_millis bigint not null);
alter table satrail.tasks add column holder uuid;
create index tasks_holder on satrail.tasks (holder) where holder is not null;
`
