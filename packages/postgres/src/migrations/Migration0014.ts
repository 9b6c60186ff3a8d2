/**
 * The indexes of lists serve nothing else. A planner that has seen no statistics takes any index that has a row's key in it, wherever in there, for as good
 * as the key's own, and then reads all that a company has. `uuid_send` is the id's 16 bytes; the coins of one amount are put in order when they are read.
 */
export const script = `
drop index satrail.deposits_listed;
create index deposits_listed on satrail.deposits (uuid_send(company_id), created_at_millis desc, id desc);
drop index satrail.withdrawals_listed;
create index withdrawals_listed on satrail.withdrawals (uuid_send(company_id), created_at_millis desc, id desc);
drop index satrail.unspent_largest;
create index unspent_largest on satrail.unspent (wallet, amount desc);
`
