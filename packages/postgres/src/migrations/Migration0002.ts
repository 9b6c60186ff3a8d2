/**
 * A task says what kind of work it is, and is claimed by it. The default is for processes of the version before, which go on beside us for a
 * while: all they know is withdrawals.
 */
export const script = `
alter table satrail.tasks add column kind text not null default 'withdrawal';
drop index satrail.tasks_due;
create index tasks_due on satrail.tasks (kind, due_at_millis, id);
`
