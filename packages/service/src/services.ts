import "@satrail/bitcoin/checkRuntime"

// Services and records of features.
export * from "./exports.ts"

// Further services: those for operators, and background workers.
export * as OwnKeys from "@satrail/core/accounts/OwnKeys"
export * as OperatorTokens from "@satrail/core/accounts/OperatorTokens"
export * as Domains from "@satrail/core/accounts/Domains"
export * as Stops from "@satrail/core/accounts/Stops"
export * as Limits from "@satrail/core/accounts/Limits"
export * as Fees from "@satrail/core/accounts/Fees"
export * as CompanyFees from "@satrail/core/accounts/CompanyFees"
export * as LostWithdrawals from "@satrail/core/sending/LostWithdrawals"
export * as Suspense from "@satrail/core/receiving/Suspense"
export * as PayRequests from "@satrail/core/receiving/PayRequests"
export * as Prices from "@satrail/core/nodes/Prices"
export * as Backlog from "@satrail/core/reports/reconciliation/Backlog"
export * as Liquidity from "@satrail/core/reports/reconciliation/Liquidity"
export * as Status from "@satrail/core/service/Status"
export * as Bookings from "@satrail/core/reports/Bookings"
export * as Reconciler from "@satrail/core/reports/reconciliation/Reconciler"
export * as Reconciliation from "@satrail/core/reports/reconciliation/Reconciliation"
export * as Verification from "@satrail/core/reports/Verification"
