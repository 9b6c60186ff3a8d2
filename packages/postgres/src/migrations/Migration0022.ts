/**
 * What the operator looks at: a company's keys in the order of their creation; those of one moment are put in order when they are read. And withdrawals and deposits of
 * whichever company by their ids, which are made of the time and so lie in the order in which they came: by ranges of pages, which costs a commit next to nothing.
 */
export const script = `
create index api_keys_listed on satrail.api_keys (uuid_send(company_id), created_at_millis desc);
create index withdrawals_anywhere on satrail.withdrawals using brin (uuid_send(id)) with (pages_per_range = 32, autosummarize = on);
create index deposits_anywhere on satrail.deposits using brin (uuid_send(id)) with (pages_per_range = 32, autosummarize = on);
`
