/** The payment hash that a node reported of a payment by offer. It is no identity, and may be that of another payment too. */
export const script = `
alter table satrail.withdrawals add column reported_hash text;
create index withdrawals_reported_hash on satrail.withdrawals (reported_hash) where reported_hash is not null;
`
