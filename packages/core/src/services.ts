import "@satrail/bitcoin/checkRuntime"

// Services and records of features.
export * from "./features.ts"

// Further services: those for operators, and background workers.
export * as OwnKeys from "./accounts/OwnKeys.ts"
export * as OperatorTokens from "./accounts/OperatorTokens.ts"
export * as Domains from "./accounts/Domains.ts"
export * as Stops from "./accounts/Stops.ts"
export * as Limits from "./accounts/Limits.ts"
export * as Fees from "./accounts/Fees.ts"
export * as CompanyFees from "./accounts/CompanyFees.ts"
export * as LostWithdrawals from "./sending/LostWithdrawals.ts"
export * as Suspense from "./receiving/Suspense.ts"
export * as PayRequests from "./receiving/PayRequests.ts"
export * as Prices from "./nodes/Prices.ts"
export * as Backlog from "./reports/reconciliation/Backlog.ts"
export * as Liquidity from "./reports/reconciliation/Liquidity.ts"
export * as Status from "./service/Status.ts"
export * as Bookings from "./reports/Bookings.ts"
export * as Reconciler from "./reports/reconciliation/Reconciler.ts"
export * as Reconciliation from "./reports/reconciliation/Reconciliation.ts"
export * as Verification from "./reports/Verification.ts"
