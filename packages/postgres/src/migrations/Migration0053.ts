/** Offers are looked up by their whole text. A hash index takes one of any length, which an index in order would not. */
export const script = `
create index offers_offer on satrail.offers using hash (offer);
`
