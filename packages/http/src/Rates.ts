import { Prices } from "@satrail/core/nodes/Prices"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication, Scopes } from "./Authentication.ts"
import { base } from "./Base.ts"
import { Decoding } from "./Decoding.ts"
import * as Envelope from "./Envelope.ts"
import * as Errors from "./Errors.ts"
import * as Handlers from "./Handlers.ts"
import * as Wire from "./Wire.ts"

const rates = HttpApiEndpoint.get("rates", "/v1/rates", {
  success: Envelope.success(200, Schema.Array(Wire.Rate)),
  error: Errors.of("rate_unavailable")
})
  .annotate(Scopes, ["read", "receive", "send"])
  .annotate(OpenApi.Summary, "Fetch the exchange rates")
  .annotate(
    OpenApi.Description,
    "What amounts in fiat are converted at now. A currency without a rate that is young enough is left out; without any, 503. Needs the scope `read`, `receive` or `send`."
  )

/** What a bitcoin costs. */
export class Group extends HttpApiGroup.make("rates")
  .add(rates)
  .middleware(Decoding)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Rates")
  .annotate(OpenApi.Description, "What a bitcoin costs") {}

export const layer = Handlers.layer(
  base.add(Group),
  "rates",
  Effect.fnUntraced(function* (handlers) {
    const { current } = yield* Prices
    return handlers.handleAll({
      rates: () => Effect.map(Errors.answered(current), (rates) => Envelope.ok("Exchange rates", rates.map(Wire.rate)))
    })
  })
)
