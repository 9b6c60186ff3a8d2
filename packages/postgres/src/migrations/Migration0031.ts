// Whoever commits for a company locks its balance, and sees there whether it is frozen.
/** Companies that are frozen. */
export const script = `
alter table satrail.companies add column frozen json;
alter table satrail.balances add column frozen boolean not null default false;
`
