/** What an operator asked to loosen, and a second one has to ask for as well. */
export const script = `
alter table satrail.companies add column loosening json;
alter table satrail.api_keys add column loosening json;
`
