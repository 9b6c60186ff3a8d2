import { Context, type Effect } from "effect"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type * as Booking from "@satrail/core/reports/Booking"

/** Total of all late postings between two accounts, with the earliest and latest of their times. */
export interface LateTurnover extends Booking.Turnover {
  readonly firstMillis: number
  readonly lastMillis: number
}

/**
 * Data of a company's monthly statement, all from one snapshot. The data of a closed month never changes.
 */
export interface MonthSums {
  readonly isClosed: boolean
  /** The closing totals of the previous month. */
  readonly before: ReadonlyArray<Booking.Turnover>
  /** Totals of postings dated in this month and booked before it was closed. */
  readonly within: ReadonlyArray<Booking.Turnover>
  /** Totals of postings dated in a closed month and booked while this month was the first open one. */
  readonly late: ReadonlyArray<LateTurnover>
}

/**
 * Number and time of the company's last month end, and the id of the company's last entry. A value is 0 if
 * there is no month end or no entry.
 */
export interface Closed {
  readonly number: number
  readonly untilMillis: number
  readonly last: bigint
}

type Read<A> = Effect.Effect<A, StoreUnavailable>

/** Reads data for statements. */
export class StatementReads extends Context.Service<
  StatementReads,
  {
    /** Returns the data of a statement; see `MonthSums`. Recomputes all totals. */
    readonly monthSums: (companyId: CompanyId.CompanyId, period: Booking.Period) => Read<MonthSums>
    /** Returns a company's last month end and last entry, from one snapshot. */
    readonly booksClosed: (companyId: CompanyId.CompanyId) => Read<Closed>
  }
>()("@satrail/features/statements/core/StatementReads") {}
