/** Who may show a checkout's page in a frame, and its colour: `#rrggbb`, which whoever creates one and whoever serves it check. */
export const script = `
alter table satrail.checkouts
  add column embed_origin text,
  add column color text;
`
