// Whoever commits for a company locks its balance, and sees there by which revision of its fees it is charged.
/** What a company pays in place of what its plan says, and how often that or its plan was changed. */
export const script = `
alter table satrail.companies add column fees json, add column fees_revision integer not null default 0;
alter table satrail.balances add column fees_revision integer not null default 0;
`
