import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as MonthEnd from "./core/MonthEnd.ts"
import type { Closed, MonthSums, StatementReads } from "./core/StatementReads.ts"
import type * as Booking from "@satrail/core/reports/Booking"
import * as Bookings from "@satrail/memory/Bookings"
import type { Read } from "@satrail/memory/Reading"
import * as State from "@satrail/memory/State"

const endsOf = (state: State.State, companyId: CompanyId.CompanyId): ReadonlyArray<MonthEnd.MonthEnd> =>
  State.ownedBy(state, MonthEnd.noun, companyId).toSorted((a, b) => a.number - b.number)

/** Returns the last month for which a company's books are closed. */
const booksClosed = (state: State.State, companyId: CompanyId.CompanyId): Closed => {
  const { number = 0, untilMillis = 0 } = endsOf(state, companyId).at(-1) ?? {}
  return { number, untilMillis, last: Bookings.all(state, companyId).at(-1)?.id ?? 0n }
}

/**
 * Returns a statement's sums. An entry that was added after its month was closed is counted in the next month
 * that is closed.
 */
const monthSums = (
  state: State.State,
  companyId: CompanyId.CompanyId,
  { fromMillis, untilMillis }: Booking.Period
): MonthSums => {
  const ends = endsOf(state, companyId)
  const lastOf = (millis: number): bigint | undefined => {
    const end = ends.find((one) => one.untilMillis >= millis)
    return end && BigInt(end.lastEntry)
  }
  const isBy = (last: bigint | undefined) => (entry: Booking.Entry) => last === undefined || entry.id <= last
  const [wasOpen, isOpen] = [isBy(lastOf(fromMillis)), isBy(lastOf(untilMillis))]
  const entries = Bookings.all(state, companyId).filter(
    (entry) => entry.atMillis < untilMillis && isOpen(entry)
  )
  const earlier = entries.filter(({ atMillis }) => atMillis < fromMillis)
  const late = earlier.filter((entry) => !wasOpen(entry))
  return {
    isClosed: lastOf(untilMillis) !== undefined,
    before: Bookings.turnovers(earlier.filter(wasOpen)),
    within: Bookings.turnovers(entries.filter(({ atMillis }) => atMillis >= fromMillis)),
    late: Bookings.turnovers(late).map((turnover) => {
      const times = late.flatMap(({ from, to, atMillis }) =>
        from === turnover.from && to === turnover.to ? [atMillis] : []
      )
      return { ...turnover, firstMillis: Math.min(...times), lastMillis: Math.max(...times) }
    })
  }
}

export const make = (read: Read): StatementReads["Service"] => ({
  monthSums: (companyId, period) => read((now) => monthSums(now, companyId, period)),
  booksClosed: (companyId) => read((now) => booksClosed(now, companyId))
})
