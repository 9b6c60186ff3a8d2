import { Context, type Effect, Schema } from "effect"
import type { Fiat } from "../base/Amount.ts"
import type { Decimal } from "../base/Decimal.ts"

/** No sufficiently recent price is available. */
export class RateUnavailable extends Schema.TaggedError<RateUnavailable>()("RateUnavailable", {
  currency: Schema.String
}) {}

/** The price of one bitcoin. */
export interface Rate {
  /** Units of the currency for 1 BTC: 50 000 usd is 50000. */
  readonly price: Decimal
  readonly atMillis: number
  /** Names of the sources of the price, stored with the records that use it. */
  readonly source?: string
}

/** A source of fiat prices. */
export class ExchangeRates extends Context.Service<
  ExchangeRates,
  {
    /** Currencies for which this source has no price. Amounts in them are rejected without calling `rate`. */
    readonly lacks?: ReadonlySet<Fiat>
    /** Returns the last known price. The caller decides by `atMillis` whether it is recent enough. */
    readonly rate: (currency: Fiat) => Effect.Effect<Rate, RateUnavailable>
  }
>()("@satrail/core/nodes/ExchangeRates") {}
