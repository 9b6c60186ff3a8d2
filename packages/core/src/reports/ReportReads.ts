import type { Msat } from "@satrail/bitcoin/Msat"
import { Context, type Effect } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { Balance } from "../ledger/Balance.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Found } from "../ledger/Page.ts"
import type * as Booking from "./Booking.ts"
import type { Fault } from "./Fault.ts"
import type { Hit, Sought } from "./Search.ts"
import type { Query, Transaction } from "./Transaction.ts"

/**
 * The same funds, counted in three ways. In a sound ledger `totals` equals `entries`, and `totals.held` equals
 * `pending`, the amount held by pending withdrawals and open vouchers.
 */
export interface Audit {
  readonly totals: Balance
  readonly entries: Balance
  readonly pending: Msat
}

/**
 * A company's balance, and the amount that its pending deposits will add once they have enough confirmations.
 */
export interface Funds extends Balance {
  /**
   * Excludes the part already borne by the operator. For example, it is 800 for a reversed deposit of 1000 with
   * 200 written off.
   */
  readonly pendingDeposits: Msat
}

/** A company's id and name. */
export interface Named {
  readonly id: CompanyId.CompanyId
  readonly name: string
}

type Read<A> = Effect.Effect<A, StoreUnavailable>

/**
 * Reads that combine records of several areas. A method that takes a company id returns only that company's
 * records.
 */
export class ReportReads extends Context.Service<
  ReportReads,
  {
    /**
     * Like `transactions`, but reads at most about `looks` deposits, `looks` withdrawals and `looks`
     * adjustments.
     */
    readonly search: (companyId: CompanyId.CompanyId, query: Query, looks: number) => Read<Found<Transaction>>
    /**
     * Returns deposits, withdrawals and booked adjustments, newest first by (`createdAtMillis`, `id`). If the
     * query has a label, they are sorted by id, which starts with the creation time.
     */
    readonly transactions: (companyId: CompanyId.CompanyId, query: Query) => Read<ReadonlyArray<Transaction>>
    /** Returns a company's funds from one snapshot. A company that does not exist has a balance of zero. */
    readonly funds: (companyId: CompanyId.CompanyId) => Read<Funds>
    /**
     * Recomputes all totals of one company, independently of `faults`. Meant for checking invariants after
     * tests, never for requests.
     */
    readonly audit: (companyId: CompanyId.CompanyId) => Read<Audit>
    /**
     * Returns the amounts booked for a company before a period and within it, and the last entry seen. No entry
     * with a lower id is committed later. Recomputes all totals.
     */
    readonly bookedSums: (companyId: CompanyId.CompanyId, period: Booking.Period) => Read<Booking.Sums>
    /**
     * Returns a company's entries that change its total funds, ordered by id. Reads at most one page of
     * entries, including the entries that are left out.
     */
    readonly bookedEntries: (query: Booking.Query) => Read<Booking.Found>
    /** Returns a company's deposits and withdrawals with these transfers, in any order. */
    readonly subjects: (
      companyId: CompanyId.CompanyId,
      transferIds: ReadonlyArray<string>
    ) => Read<ReadonlyArray<Booking.Subject>>
    /**
     * Returns a company's records that match a search, at most `Search.limits.each` for each way of matching. If
     * `companyId` is null, returns those of all companies, without matches by amount, value, description or payee.
     */
    readonly found: (companyId: CompanyId.CompanyId | null, sought: Sought) => Read<ReadonlyArray<Hit>>
    /** Returns the postings of one transfer of a company, in the order in which they were booked. */
    readonly postingsOf: (
      companyId: CompanyId.CompanyId,
      transferId: string
    ) => Read<ReadonlyArray<Booking.Posted>>
    /**
     * Returns the amounts booked between each pair of accounts in each interval between `boundaries`, which are
     * ascending times. `step` 0 is the interval that starts at the first boundary.
     */
    readonly turnedSince: (
      companyId: CompanyId.CompanyId,
      boundaries: ReadonlyArray<number>
    ) => Read<ReadonlyArray<Booking.Turned>>
    /** Returns ids and names of companies after the given id, ordered by id, even if a company's row is malformed. */
    readonly companyNames: (after: string | null, limit: number) => Read<ReadonlyArray<Named>>
    /** Compares all data of one company. Returns at most 1000 violations. */
    readonly faults: (companyId: CompanyId.CompanyId) => Read<ReadonlyArray<Fault>>
  }
>()("@satrail/core/reports/ReportReads") {}
