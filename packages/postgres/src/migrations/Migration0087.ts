/** Index that finds a company's on-chain payments by address. */
const byRecipient = (table: string) => `
create index ${table}_of_recipient on satrail.${table} (uuid_send(company_id), hashtextextended(recipient, 0), uuid_send(id)) where rail = 'on_chain';`

export const script = ["deposits", "withdrawals"].map(byRecipient).join("")
