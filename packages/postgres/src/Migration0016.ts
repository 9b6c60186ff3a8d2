/** What a company calls a voucher. */
export const script = `
alter table satrail.vouchers add column reference text;
`
