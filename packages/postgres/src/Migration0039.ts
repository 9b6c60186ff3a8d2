/** Who may show a checkout's page in a frame, and its colour. */
export const script = `
alter table satrail.checkouts
  add column embed_origin text,
  add column color text check (color ~ '^#[0-9a-f]{6}$');
`
