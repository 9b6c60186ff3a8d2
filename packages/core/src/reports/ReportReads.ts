import type { Msat } from "@satrail/bitcoin/Msat"
import { Context, type Effect } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { Balance } from "../ledger/Balance.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Found } from "../ledger/Page.ts"
import type * as Booking from "./Booking.ts"
import type { Fault } from "./Fault.ts"
import type { Query, Transaction } from "./Transaction.ts"

/**
 * The same money counted three ways. On a sound ledger `totals` equals `entries`, and `totals.held` equals `pending`: what pending withdrawals
 * and open vouchers hold.
 */
export interface Audit {
  readonly totals: Balance
  readonly entries: Balance
  readonly pending: Msat
}

/** What a company has, and what its deposits that are still pending will bring it once they are confirmed. */
export interface Funds extends Balance {
  /** Without what the operator bears for it already: of 1000 that were reversed with 200 written off, 800. */
  readonly pendingDeposits: Msat
}

type Read<A> = Effect.Effect<A, StoreUnavailable>

/** What needs the records of several subjects at once. A method that takes a company's id answers only what is that company's. */
export class ReportReads extends Context.Service<
  ReportReads,
  {
    /** The same as `transactions` of no more than `looks` deposits, as many withdrawals and as many adjustments, or a few more. */
    readonly search: (companyId: CompanyId.CompanyId, query: Query, looks: number) => Read<Found<Transaction>>
    /** Deposits, withdrawals and booked adjustments, newest first by (`createdAtMillis`, `id`); those with a label by their id, which is made of that time. */
    readonly transactions: (companyId: CompanyId.CompanyId, query: Query) => Read<ReadonlyArray<Transaction>>
    /** All of one moment. A company that was not opened has nothing. */
    readonly funds: (companyId: CompanyId.CompanyId) => Read<Funds>
    /** Recounts everything of one company, apart from `faults`: what the invariants are asserted by after a test, never for a request. */
    readonly audit: (companyId: CompanyId.CompanyId) => Read<Audit>
    /** What was booked for a company before a period and within it, and the last entry that was seen: none with a lower id turns up later. Recounts everything. */
    readonly bookedSums: (companyId: CompanyId.CompanyId, period: Booking.Period) => Read<Booking.Sums>
    /** Entries of a company that move what it owns, by id. Looks at as many as a page costs, whatever it leaves out. */
    readonly bookedEntries: (query: Booking.Query) => Read<Booking.Found>
    /** The deposits and withdrawals of a company that these transfers are of, in any order. */
    readonly subjects: (companyId: CompanyId.CompanyId, transferIds: ReadonlyArray<string>) => Read<ReadonlyArray<Booking.Subject>>
    /** Compares everything of one company with everything else of it. Answers what is wrong, at most 1000 of it. */
    readonly faults: (companyId: CompanyId.CompanyId) => Read<ReadonlyArray<Fault>>
  }
>()("@satrail/core/reports/ReportReads") {}
