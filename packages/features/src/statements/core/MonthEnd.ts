import { Schema } from "effect"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Noun from "@satrail/core/ledger/Noun"
import { type Written, written } from "@satrail/core/ledger/Written"

/**
 * The record that closes a company's books up to a point in time. An entry dated before that time but booked
 * after the close is late, and is reported in the first open month. A company's records are numbered from 1,
 * and each closes the books up to a later time than the previous one.
 */
export const MonthEnd = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  number: Schema.Int,
  /** Start of the first open month, in UTC. */
  untilMillis: Schema.Int,
  /**
   * Id of the company's last entry at the close, as a string of digits because it can exceed the precision of a
   * number.
   */
  lastEntry: Schema.String,
  createdAtMillis: Schema.Int
})
export interface MonthEnd extends Schema.Schema.Type<typeof MonthEnd> {}

/** Two concurrent closings cannot get the same number, so the second one reads the books again. */
export const noun = Noun.make("month_ends", MonthEnd, { moving: [], unique: [["companyId", "number"]] })

export interface MonthsClosed extends Written<
  "MonthsClosed",
  readonly [Noun.InsertOf<typeof noun>],
  never,
  never
> {}

export const closed = (end: MonthEnd): MonthsClosed =>
  written("MonthsClosed", end.createdAtMillis, [Noun.insert(noun, end)])
