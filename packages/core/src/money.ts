import "@satrail/bitcoin/checkRuntime"

// The money path alone, for a small program: the part of the package root that does not import features,
// events or reports.
export * as Money from "./service/Money.ts"
export * as Policy from "./service/Policy.ts"
export * as Companies from "./accounts/Companies.ts"
export * as Invoices from "./receiving/Invoices.ts"
export * as OnChainAddresses from "./receiving/OnChainAddresses.ts"
export * as Withdrawals from "./sending/Withdrawals.ts"
export * as Answer from "./ledger/Answer.ts"
export * as Balance from "./ledger/Balance.ts"
export * as LedgerReads from "./ledger/LedgerReads.ts"
export * as Decimal from "./base/Decimal.ts"
