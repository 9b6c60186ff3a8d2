import { Schema } from "effect"
import * as CompanyId from "../../base/CompanyId.ts"
import * as Noun from "../../ledger/Noun.ts"
import type { Written } from "../../ledger/Written.ts"

/**
 * A company's books are closed up to here: what is booked after `lastEntry` with an earlier time is late, and told in the first month that is not closed yet.
 * A company's ends are numbered from 1 on, each later than the one before it.
 */
export const MonthEnd = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  number: Schema.Int,
  /** The first moment that is not closed: of a month, in UTC. */
  untilMillis: Schema.Int,
  /** The id of the company's last entry that was booked by then: in digits, since a number has too few of them. */
  lastEntry: Schema.String,
  createdAtMillis: Schema.Int
})
export interface MonthEnd extends Schema.Schema.Type<typeof MonthEnd> {}

/** Two who close at once do not both have the next number: the second one looks again. */
export const noun = Noun.make("month_ends", MonthEnd, { moving: [], unique: [["companyId", "number"]] })

export interface MonthsClosed extends Written<"MonthsClosed", readonly [Noun.InsertOf<typeof noun>], never, never> {}

export const closed = (end: MonthEnd): MonthsClosed => ({
  _tag: "MonthsClosed",
  id: end.id,
  companyId: end.companyId,
  atMillis: end.createdAtMillis,
  legs: [],
  writes: [Noun.insert(noun, end)]
})
