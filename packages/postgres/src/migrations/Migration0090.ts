/**
 * Digest of what the request asked for, beside the digest of its form. The previous version stores and compares only the
 * latter, so both versions recognize each other's requests during an upgrade.
 */
export const script = `
alter table satrail.answers add column meaning text;
`
