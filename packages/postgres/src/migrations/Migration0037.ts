/** From where a key may be used. */
export const script = `
alter table satrail.api_keys add column allowed_from json;
`
