/**
 * Companies and their lanes take turns where one must not stand before the others. A process of the version before knows no lanes: what it begins has the
 * empty one, and what is in a kind that it does not know waits for a process of this version.
 */
export const script = `
alter table satrail.tasks add column lane text collate "C" not null default '';
create index tasks_turns on satrail.tasks (kind, company_id, lane, due_at_millis, id);
`
