/** An export finds the deposit or withdrawal of a line in the ledger. The ids of transfers are made of the time: what is added is added at the index's end. */
export const script = `
create index withdrawals_of_transfer on satrail.withdrawals (ledger_tx_id);
create index deposits_of_transfer on satrail.deposits (ledger_tx_id);
`
