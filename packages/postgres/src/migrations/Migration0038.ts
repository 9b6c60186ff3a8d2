/**
 * Withdrawals that wait for a second key. They are pending and have no job, so that a process of a version before this one neither sends nor ends them; should anything try,
 * the check refuses it.
 */
export const script = `
alter table satrail.withdrawals
  add column approval text check (approval in ('waiting', 'approved', 'rejected', 'expired')),
  add column approval_asked_by text,
  add column approval_by text,
  add column approval_expires_at_millis bigint,
  add column approval_at_millis bigint,
  add check (approval is distinct from 'waiting'
    or (status = 'pending' and dispatched_at_millis is null and approval_expires_at_millis is not null and approval_at_millis is null));
create index withdrawals_unapproved on satrail.withdrawals (approval_expires_at_millis) where approval = 'waiting';
`
