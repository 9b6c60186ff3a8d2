/** Finds the few deposits whose reversal the operator still bears. */
export const script = `
create index deposits_owed on satrail.deposits (id) where absorbed > 0;
`
