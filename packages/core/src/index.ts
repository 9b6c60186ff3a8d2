import "@satrail/bitcoin/checkRuntime"

// Services and records of features.
export * from "./features.ts"

// All services with their settings, for a host to run.
export * as Satrail from "./service/Satrail.ts"
export * as Policy from "./service/Policy.ts"

// The list of all features, to which a program adds its own (`Features` in `@satrail/core/ports`).
export { features } from "./features/index.ts"

// Services for a host to call. Other services are in `@satrail/core/services`.
export * as Companies from "./accounts/Companies.ts"
export * as ApiKeys from "./accounts/ApiKeys.ts"
export * as Invoices from "./receiving/Invoices.ts"
export * as LightningAddresses from "./receiving/LightningAddresses.ts"
export * as OnChainAddresses from "./receiving/OnChainAddresses.ts"
export * as Withdrawals from "./sending/Withdrawals.ts"
export * as Transactions from "./reports/Transactions.ts"
export * as Events from "./events/Events.ts"

// Arguments and results of these services. Records and errors are in `@satrail/core/records`.
export * as Answer from "./ledger/Answer.ts"
export * as CompanyId from "./base/CompanyId.ts"
export * as Decimal from "./base/Decimal.ts"
export * as Balance from "./ledger/Balance.ts"
export * as Journal from "./ledger/Journal.ts"
