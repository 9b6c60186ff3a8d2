import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { type Closed, type MonthSums, StatementReads } from "../core/StatementReads.ts"
import type * as Booking from "@satrail/core/reports/Booking"
import { Effect, Option, Schema } from "effect"
import { Account } from "@satrail/postgres/reads/Bookings"
import * as Reads from "@satrail/postgres/statements/Reads"

const isClosed = Schema.Literals(["true", "false"])
const decodeMonthSums = Schema.decodeUnknownSync(
  Schema.Union([
    Schema.Struct({
      isClosed,
      part: Schema.Literals(["before", "within", "late"]),
      from: Account,
      to: Account,
      amount: Msat.FromString,
      count: Schema.FiniteFromString,
      firstMillis: Schema.FiniteFromString,
      lastMillis: Schema.FiniteFromString
    }),
    // The row of a month without bookings.
    Schema.Struct({ isClosed, part: Schema.Null })
  ])
)

// A time is closed by the first month end at or after it. Later month ends also cover bookings made after that.
const lastEntry = (place: string) => `
  (select e.last_entry::bigint from satrail.month_ends e where e.company_id = $1::uuid and e.until_millis >= ${place}::bigint order by e.number limit 1)`

const turnovers = Reads.many("Records.monthSums", {
  isHeavy: true,
  recounts: true,
  text: `
with ends as materialized (select ${lastEntry("$2")} as opened, ${lastEntry("$3")} as closed)
select (ends.closed is not null)::text as "isClosed", b.part, b.from_account as "from", b.to_account as "to", b.amount, b.count, b.first as "firstMillis", b.last as "lastMillis"
from ends left join lateral (
  select case when at_millis >= $2::bigint then 'within' when ends.opened is null or id <= ends.opened then 'before' else 'late' end as part,
    from_account, to_account, sum(amount)::text as amount, count(*)::text as count, min(at_millis)::text as first, max(at_millis)::text as last
  from satrail.entries where company_id = $1::uuid and at_millis < $3::bigint and (ends.closed is null or id <= ends.closed)
  group by 1, from_account, to_account
) b on true`,
  values: (companyId: CompanyId.CompanyId, { fromMillis, untilMillis }: Booking.Period) => [
    companyId,
    String(fromMillis),
    String(untilMillis)
  ],
  read: decodeMonthSums
})

const decodeClosed = Schema.decodeUnknownSync(
  Schema.Struct({
    number: Schema.FiniteFromString,
    untilMillis: Schema.FiniteFromString,
    last: Schema.BigIntFromString
  })
)

// Both are read from one snapshot, so the last entry never precedes the last entry of the last month end.
const booksClosed = Reads.mapped(
  Reads.first("Records.booksClosed", {
    text: `
select coalesce(e.number, 0)::text as number, coalesce(e.until_millis, 0)::text as "untilMillis",
  coalesce((select max(id) from satrail.entries where company_id = $1::uuid), 0)::text as last
from (select) one left join lateral (select * from satrail.month_ends where company_id = $1::uuid order by number desc limit 1) e on true`,
    values: (companyId: CompanyId.CompanyId) => [companyId],
    read: decodeClosed
  }),
  Option.getOrElse((): Closed => ({ number: 0, untilMillis: 0, last: 0n }))
)

const monthSums = Reads.mapped(turnovers, (rows): MonthSums => {
  const ofPart = (wanted: "before" | "within" | "late") =>
    rows.flatMap((row) => {
      if (row.part !== wanted) return []
      const { from, to, amount, count, firstMillis, lastMillis } = row
      return [{ from, to, amount, count, firstMillis, lastMillis }]
    })
  const sums = (part: "before" | "within") =>
    ofPart(part).map(({ from, to, amount, count }) => ({ from, to, amount, count }))
  return {
    isClosed: rows.some(({ isClosed }) => isClosed === "true"),
    before: sums("before"),
    within: sums("within"),
    late: ofPart("late")
  }
})

export const make = Effect.map(Effect.all({ monthSums, booksClosed }), StatementReads.of)
