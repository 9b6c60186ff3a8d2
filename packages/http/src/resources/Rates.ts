import { Currency, isFiat } from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import { Prices, type Quoted } from "@satrail/core/nodes/Prices"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Scopes } from "../api/Authentication.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example } from "../wire/Examples.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Section from "../api/Section.ts"
import * as Member from "../wire/Member.ts"
import * as View from "../wire/View.ts"

/** Price of one bitcoin in a currency. It is a string because most clients read JSON numbers as floats. */
export const view = View.make<Quoted>()(
  { identifier: "Rate" },
  {
    currency: [Schema.Literals(Currency.literals.filter(isFiat)), (row) => row.currency],
    price: [
      Scalars.text("97123.45").annotate({
        description: "Price of one bitcoin in the currency, as an exact decimal"
      }),
      (row) => Decimal.format(row.price)
    ],
    updated_at: Member.instant((row) => row.atMillis, "Time of the price")
  }
)

const list = Section.company(
  HttpApiEndpoint.get("rates", "/v1/rates", {
    success: Envelope.success(200, Schema.Array(view.schema)),
    error: Errors.of("rate_unavailable")
  })
    .annotate(Scopes, ["read", "receive", "send"])
    .annotate(OpenApi.Summary, "Get exchange rates")
    .annotate(
      OpenApi.Description,
      "Returns the rates at which fiat amounts are currently converted. A currency without a current rate is omitted. If no rate is current, the request returns 503. Requires the `read`, `receive` or `send` scope."
    )
    .annotate(Example, ({ at }) => ({
      message: "Exchange rates",
      data: [
        { currency: "usd", price: "97123.45", updated_at: at(-5000) },
        { currency: "eur", price: "89480.02", updated_at: at(-5000) }
      ]
    })),
  Prices,
  ({ current }) =>
    () =>
      Effect.map(Errors.answered(current), (rates) => Envelope.ok("Exchange rates", rates.map(view.of)))
)

export const section = Section.make("rates", { title: "Rates", description: "Exchange rates" }, [list])
