import type { Msat } from "@satrail/bitcoin/Msat"
import { Array, Clock, Context, Effect, Layer, Result } from "effect"
import * as Amount from "../base/Amount.ts"
import * as Decimal from "../base/Decimal.ts"
import * as Rated from "../base/Rated.ts"
import { ExchangeRates, type Rate, RateUnavailable } from "./ExchangeRates.ts"

/** An amount as a caller specified it. */
export interface Asked {
  readonly amount: Decimal.Decimal
  readonly currency: Amount.Currency
}

/** The amount in msat, and the rate used. */
export interface Priced extends Rated.Rated {
  readonly amount: Msat
}

/** The price of one bitcoin in a currency. */
export interface Quoted extends Rate {
  readonly currency: Amount.Fiat
}

/** Older rates are not used. */
export const maxRateAgeMillis = 60_000

/** Converts amounts in any currency to satoshis. */
export class Prices extends Context.Service<
  Prices,
  {
    /**
     * Converts an amount. Sats and btc are exact. Fiat uses the current rate, and fails if the rate is too
     * old.
     */
    readonly price: (asked: Asked) => Effect.Effect<Priced, Amount.AmountInvalid | RateUnavailable>
    /**
     * The rates that `price` would use now, for each currency with a sufficiently recent rate. Fails if there
     * are none.
     */
    readonly current: Effect.Effect<ReadonlyArray<Quoted>, RateUnavailable>
  }
>()("@satrail/core/nodes/Prices") {}

export const make = Effect.gen(function* () {
  const rates = yield* ExchangeRates

  const offered = Amount.Currency.literals.filter(
    (currency) => !Amount.isFiat(currency) || rates.lacks?.has(currency) !== true
  )

  /** Returns the current rate if it is recent enough. A time in the future means that the clock was set back. */
  const young = Effect.fnUntraced(function* (currency: Amount.Fiat) {
    const rate = yield* rates.rate(currency)
    return Math.abs((yield* Clock.currentTimeMillis) - rate.atMillis) > maxRateAgeMillis
      ? yield* new RateUnavailable({ currency })
      : rate
  })

  const converted = Effect.fnUntraced(function* (amount: Decimal.Decimal, currency: Amount.Fiat) {
    if (!offered.includes(currency)) {
      const message = `${currency} is not supported. Use one of ${offered.join(", ")}.`
      return yield* new Amount.AmountInvalid({ reason: "unknown_currency", message })
    }
    const { price, atMillis, source } = yield* young(currency)
    return {
      amount: yield* Effect.fromResult(Amount.fiatToMsat(amount, price)),
      rate: Decimal.format(price),
      rateAtMillis: atMillis,
      fiatCurrency: currency,
      rateSource: source ?? null
    }
  })

  return Prices.of({
    price: ({ amount, currency }) =>
      Amount.isFiat(currency)
        ? converted(amount, currency)
        : Effect.fromResult(
            Result.map(Amount.toMsat(amount, currency), (msat) => ({
              amount: msat,
              ...Rated.none
            }))
          ),
    current: Effect.gen(function* () {
      const found = yield* Effect.forEach(offered.filter(Amount.isFiat), (currency) =>
        Effect.option(Effect.map(young(currency), (rate): Quoted => ({ currency, ...rate })))
      )
      const quoted = Array.getSomes(found)
      return quoted.length === 0 ? yield* new RateUnavailable({ currency: "any currency" }) : quoted
    })
  })
})

export const layer = Layer.effect(Prices, make)
