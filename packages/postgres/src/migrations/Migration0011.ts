/**
 * Answers with a voucher's link in them were kept as they were given: who read them could claim the voucher. They are emptied, and not deleted, so that
 * their keys still make nothing twice. The member's quotes are in no text that somebody wrote: there JSON escapes them.
 */
export const script = `
update satrail.answers set answer = '' where answer like '%"lnurlw":"lnurlw:%';
`
