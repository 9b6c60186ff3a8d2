/** Deposits that were given up are looked for again: found without reading all others. */
export const script = `
create index deposits_given_up on satrail.deposits (id) where rail = 'on_chain' and status = 'failed' and revision > 0;
`
