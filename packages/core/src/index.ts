import "@satrail/bitcoin/checkRuntime"

// What a host runs: all services, with their settings.
export * as Satrail from "./service/Satrail.ts"
export * as Policy from "./service/Policy.ts"

// What it asks. The other services are in `@satrail/core/services`.
export * as Companies from "./accounts/Companies.ts"
export * as ApiKeys from "./accounts/ApiKeys.ts"
export * as Invoices from "./receiving/Invoices.ts"
export * as LightningAddresses from "./receiving/LightningAddresses.ts"
export * as OnChainAddresses from "./receiving/OnChainAddresses.ts"
export * as Offers from "./features/offers/Offers.ts"
export * as Checkouts from "./features/checkouts/Checkouts.ts"
export * as Withdrawals from "./sending/Withdrawals.ts"
export * as Vouchers from "./features/vouchers/Vouchers.ts"
export * as Refunds from "./features/refunds/Refunds.ts"
export * as Transactions from "./reports/Transactions.ts"
export * as Events from "./events/Events.ts"
export * as Webhooks from "./features/webhooks/Webhooks.ts"

// What it asks with, and what it is answered. Records and refusals are in `@satrail/core/records`.
export * as Answer from "./ledger/Answer.ts"
export * as CompanyId from "./base/CompanyId.ts"
export * as Decimal from "./base/Decimal.ts"
export * as Balance from "./ledger/Balance.ts"
export * as Journal from "./ledger/Journal.ts"
