import { Context, type Effect, Schema } from "effect"
import type { Fiat } from "../base/Amount.ts"
import type { Decimal } from "../base/Decimal.ts"

/** No price that is young enough. */
export class RateUnavailable extends Schema.TaggedError<RateUnavailable>()("RateUnavailable", { currency: Schema.String }) {}

/** What one bitcoin costs. */
export interface Rate {
  /** Units of the currency for 1 BTC: 50 000 usd is 50000. */
  readonly price: Decimal
  readonly atMillis: number
}

/** Prices in fiat. */
export class ExchangeRates extends Context.Service<
  ExchangeRates,
  {
    /** Currencies this source has no price for. Amounts in them are refused, and `rate` is not called for them. */
    readonly lacks?: ReadonlySet<Fiat>
    /** The last price known; how old it may be is the caller's to judge, by `atMillis`. */
    readonly rate: (currency: Fiat) => Effect.Effect<Rate, RateUnavailable>
  }
>()("@satrail/core/nodes/ExchangeRates") {}
