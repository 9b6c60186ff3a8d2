import { Clock, Context, Effect, Layer } from "effect"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import { Invalid } from "@satrail/core/base/Invalid"
import { Journal, type StoreUnavailable } from "@satrail/core/ledger/Journal"
import type * as Booking from "@satrail/core/reports/Booking"
import * as MonthEnd from "./MonthEnd.ts"
import * as Statement from "./Statement.ts"
import { StatementReads } from "./StatementReads.ts"

/** A company's statement for one month. */
export interface Month extends Statement.Statement, Booking.Period {
  readonly companyId: CompanyId.CompanyId
  readonly month: string
  /** True if the month is closed, so that its statement never changes. */
  readonly isFinal: boolean
}

/** Monthly statements of companies. */
export class Statements extends Context.Service<
  Statements,
  {
    /**
     * Returns the statement for a month such as `2026-01`, in UTC. The statement of an unfinished month covers
     * entries so far. Requesting a month that ended at least `Statement.settlingMillis` ago closes it and every
     * earlier month. Later entries with a time in a closed month are late, and appear in the statement of the
     * first open month.
     */
    readonly get: (
      companyId: CompanyId.CompanyId,
      month: string
    ) => Effect.Effect<Month, Invalid | StoreUnavailable>
  }
>()("@satrail/features/statements/core/Statements") {}

export const make = Effect.gen(function* () {
  const reads = yield* StatementReads
  const journal = yield* Journal

  /**
   * Closes every month that can be closed, unless the books are already closed up to `untilMillis`. The second
   * of two concurrent calls uses the result of the first.
   */
  const close = (companyId: CompanyId.CompanyId, untilMillis: number, nowMillis: number) =>
    Effect.gen(function* () {
      const { number, untilMillis: closedUntil, last } = yield* reads.booksClosed(companyId)
      if (closedUntil >= untilMillis) return
      const end = {
        number: number + 1,
        untilMillis: Statement.closedUntil(nowMillis),
        lastEntry: String(last)
      }
      yield* journal.commit(
        MonthEnd.closed({ id: yield* Id.make, companyId, ...end, createdAtMillis: nowMillis })
      )
    }).pipe(
      Effect.retry({ while: ({ _tag }) => _tag === "Conflict" }),
      Effect.catchTag("Conflict", Effect.die)
    )

  return Statements.of({
    get: Effect.fnUntraced(function* (companyId, month) {
      const nowMillis = yield* Clock.currentTimeMillis
      const period = Statement.monthOf(month)
      if (period === undefined || period.fromMillis > nowMillis)
        return yield* new Invalid({
          path: "month",
          message: "must be a current or past month in UTC, such as 2026-01"
        })
      if (period.untilMillis <= Statement.closedUntil(nowMillis))
        yield* close(companyId, period.untilMillis, nowMillis)
      const sums = yield* reads.monthSums(companyId, period)
      return { ...Statement.of(sums), ...period, companyId, month, isFinal: sums.isClosed }
    })
  })
})

export const layer = Layer.effect(Statements, make)
