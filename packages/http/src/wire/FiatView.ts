import type * as Msat from "@satrail/bitcoin/Msat"
import * as Rated from "@satrail/core/base/Rated"
import * as Booking from "@satrail/core/reports/Booking"
import { Schema } from "effect"
import * as Member from "./Member.ts"
import * as Scalars from "./Scalars.ts"
import * as View from "./View.ts"

/** A record whose amount can be given in fiat. */
interface Row extends Rated.Rated {
  readonly amount: Msat.Msat | null
}

const view = View.make<Rated.Rated & { readonly value: string; readonly rate: string }>()(
  { identifier: "FiatValue" },
  {
    currency: Member.textOrNull(
      (row) => row.fiatCurrency,
      "Such as `eur`; null in older records, which did not store it"
    ),
    amount: [
      Scalars.text("12.50").annotate({ description: "The amount at `rate`, with the currency's decimals" }),
      (row) => row.value
    ],
    rate: [Scalars.text("61234.5").annotate({ description: "Price of one bitcoin" }), (row) => row.rate],
    rate_at: Member.instantOrNull((row) => row.rateAtMillis, "Time of the rate"),
    source: Member.textOrNull((row) => row.rateSource, "Sources of the rate; null if unknown")
  }
)

const schema = Schema.NullOr(view.schema).annotate({
  description: "Value in the given currency; null if the amount was in bitcoin"
})

const fiat: View.Member<Row, typeof schema> = [
  schema,
  (row) => {
    const { rate } = row
    const value = row.amount === null ? null : Booking.valueAt(row.amount, row)
    return value === null || rate === null ? null : view.of({ ...Rated.of(row), rate, value })
  }
]

/** The fiat value of a record. */
export const members = { fiat }
