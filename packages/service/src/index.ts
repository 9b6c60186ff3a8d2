import "@satrail/bitcoin/checkRuntime"

// Services and records of features.
export * from "./exports.ts"

// All services with their settings, for a host to run.
export * as Satrail from "./core/Satrail.ts"
export * as Policy from "@satrail/core/service/Policy"

// The list of all features, to which a program adds its own (`Features` in `@satrail/core/ports`).
export { features } from "./features/core.ts"

// Services for a host to call. Other services are in `@satrail/core/services`.
export * as Companies from "@satrail/core/accounts/Companies"
export * as ApiKeys from "@satrail/core/accounts/ApiKeys"
export * as Invoices from "@satrail/core/receiving/Invoices"
export * as LightningAddresses from "@satrail/core/receiving/LightningAddresses"
export * as OnChainAddresses from "@satrail/core/receiving/OnChainAddresses"
export * as Withdrawals from "@satrail/core/sending/Withdrawals"
export * as Transactions from "@satrail/core/reports/Transactions"
export * as Events from "@satrail/core/events/Events"

// Arguments and results of these services. Records and errors are in `@satrail/core/records`.
export * as Answer from "@satrail/core/ledger/Answer"
export * as CompanyId from "@satrail/core/base/CompanyId"
export * as Decimal from "@satrail/core/base/Decimal"
export * as Balance from "@satrail/core/ledger/Balance"
export * as Journal from "@satrail/core/ledger/Journal"
