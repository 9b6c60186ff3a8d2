/** A transaction may pay several withdrawals: one leads, the others follow it. */
export const script = `
alter table satrail.withdrawals add column follows uuid;
create index withdrawals_follow on satrail.withdrawals (follows, id) where follows is not null;
`
