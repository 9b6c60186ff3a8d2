import { Context, type Effect } from "effect"
import type * as CompanyId from "../../base/CompanyId.ts"
import type { StoreUnavailable } from "../../ledger/Journal.ts"
import type * as Booking from "../../reports/Booking.ts"

/** What all postings between two accounts come to that were booked late, and the first and the last time that one of them has. */
export interface LateTurnover extends Booking.Turnover {
  readonly firstMillis: number
  readonly lastMillis: number
}

/** What a company's statement of a month is made of, all of one moment. Once the month is closed it is the same at any time. */
export interface MonthSums {
  readonly isClosed: boolean
  /** What the statement of the month before it ends with. */
  readonly before: ReadonlyArray<Booking.Turnover>
  /** What was booked within the month, before it was closed. */
  readonly within: ReadonlyArray<Booking.Turnover>
  /** What has the time of a month that was closed when it was booked, and of which this is the first that was not. */
  readonly late: ReadonlyArray<LateTurnover>
}

/** How far a company's books are closed, by the last of its month ends, and its last entry of all. Nothing is 0. */
export interface Closed {
  readonly number: number
  readonly untilMillis: number
  readonly last: bigint
}

type Read<A> = Effect.Effect<A, StoreUnavailable>

/** Reads what statements are made of. */
export class StatementReads extends Context.Service<
  StatementReads,
  {
    /** What a statement is made of: see `MonthSums`. Recounts everything. */
    readonly monthSums: (companyId: CompanyId.CompanyId, period: Booking.Period) => Read<MonthSums>
    /** How far the books of a company are closed. All of one moment. */
    readonly booksClosed: (companyId: CompanyId.CompanyId) => Read<Closed>
  }
>()("@satrail/core/features/statements/StatementReads") {}
