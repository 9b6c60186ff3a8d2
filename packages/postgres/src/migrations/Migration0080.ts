/** Companies' logos are gone from the product (docs/decisions/0170). */
export const script = `
drop table satrail.logos;
`
