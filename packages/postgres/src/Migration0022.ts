/** What the operator looks at: a company's keys in the order of their creation; those of one moment are put in order when they are read. */
export const script = `
create index api_keys_listed on satrail.api_keys (uuid_send(company_id), created_at_millis desc);
`
