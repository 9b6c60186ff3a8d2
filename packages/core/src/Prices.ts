import { Clock, Context, Effect, Layer } from "effect"
import * as Amount from "./Amount.ts"
import * as Decimal from "./Decimal.ts"
import { ExchangeRates, RateUnavailable } from "./ExchangeRates.ts"
import type { Msat } from "./Msat.ts"
import { Policy } from "./Policy.ts"

/** What a caller names as an amount. */
export interface Asked {
  readonly amount: Decimal.Decimal
  readonly currency: Amount.Currency
}

/** The same in msat, and the rate that was used: units of the currency for one bitcoin. Null where none was needed. */
export interface Priced {
  readonly amount: Msat
  readonly rate: string | null
  /** When that rate was one. */
  readonly rateAtMillis: number | null
}

/** Turns amounts in any currency into satoshis. */
export class Prices extends Context.Service<
  Prices,
  {
    /** Exact for sats and btc; fiat at the current rate, which must be young enough. */
    readonly price: (asked: Asked) => Effect.Effect<Priced, Amount.AmountInvalid | RateUnavailable>
  }
>()("core/Prices") {}

export const make = Effect.gen(function* () {
  const rates = yield* ExchangeRates
  const { maxRateAgeMillis } = yield* Policy

  return Prices.of({
    price: Effect.fnUntraced(function* ({ amount, currency }) {
      if (!Amount.isFiat(currency))
        return { amount: yield* Effect.fromResult(Amount.toMsat(amount, currency)), rate: null, rateAtMillis: null }
      const { price, atMillis } = yield* rates.rate(currency)
      if ((yield* Clock.currentTimeMillis) - atMillis > maxRateAgeMillis) return yield* new RateUnavailable({ currency })
      return { amount: yield* Effect.fromResult(Amount.fiatToMsat(amount, price)), rate: Decimal.format(price), rateAtMillis: atMillis }
    })
  })
})

export const layer = Layer.effect(Prices, make)
