import { Clock, Context, Effect, Layer } from "effect"
import type * as CompanyId from "../../base/CompanyId.ts"
import * as Id from "../../base/Id.ts"
import { Invalid } from "../../base/Invalid.ts"
import { Journal, type StoreUnavailable } from "../../ledger/Journal.ts"
import type * as Booking from "../../reports/Booking.ts"
import * as MonthEnd from "./MonthEnd.ts"
import * as Statement from "./Statement.ts"
import { StatementReads } from "./StatementReads.ts"

/** A month of a company. */
export interface Month extends Statement.Statement, Booking.Period {
  readonly companyId: CompanyId.CompanyId
  readonly month: string
  /** Whether it is closed: then it is the same whenever it is asked for again. */
  readonly isFinal: boolean
}

/** Months of companies. */
export class Statements extends Context.Service<
  Statements,
  {
    /**
     * A month, `2026-01`, in UTC; of one that is not over, as far as it is. To ask for one that is over by `Statement.settlingMillis` closes it, and every month
     * before it: what is booked into it from then on is late, in the statement of the next one.
     */
    readonly get: (companyId: CompanyId.CompanyId, month: string) => Effect.Effect<Month, Invalid | StoreUnavailable>
  }
>()("@satrail/core/features/statements/Statements") {}

export const make = Effect.gen(function* () {
  const reads = yield* StatementReads
  const journal = yield* Journal

  /** Closes the books up to the last month that may be, unless they are closed up to `untilMillis`. Of two who do so at once, the second one finds what the first one did. */
  const close = (companyId: CompanyId.CompanyId, untilMillis: number, nowMillis: number) =>
    Effect.gen(function* () {
      const { number, untilMillis: closedUntil, last } = yield* reads.booksClosed(companyId)
      if (closedUntil >= untilMillis) return
      const end = { number: number + 1, untilMillis: Statement.closedUntil(nowMillis), lastEntry: String(last) }
      yield* journal.commit(MonthEnd.closed({ id: yield* Id.make, companyId, ...end, createdAtMillis: nowMillis }))
    }).pipe(Effect.retry({ while: ({ _tag }) => _tag === "Conflict" }), Effect.catchTag("Conflict", Effect.die))

  return Statements.of({
    get: Effect.fnUntraced(function* (companyId, month) {
      const nowMillis = yield* Clock.currentTimeMillis
      const period = Statement.monthOf(month)
      if (period === undefined || period.fromMillis > nowMillis)
        return yield* new Invalid({ path: "month", message: "A month that has begun, in UTC: such as 2026-01" })
      if (period.untilMillis <= Statement.closedUntil(nowMillis)) yield* close(companyId, period.untilMillis, nowMillis)
      const sums = yield* reads.monthSums(companyId, period)
      return { ...Statement.of(sums), ...period, companyId, month, isFinal: sums.isClosed }
    })
  })
})

export const layer = Layer.effect(Statements, make)
