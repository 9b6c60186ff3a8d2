/**
 * The page of a checkout tells its payer of a refund. What a process of the version before creates is told on none. The index cannot serve what looks for a row by
 * its key (see Migration0014).
 */
export const script = `
alter table satrail.refunds add column checkout_id uuid, add column sealed_link text;
create index refunds_of_checkout on satrail.refunds (uuid_send(checkout_id), id desc) where checkout_id is not null;
`
