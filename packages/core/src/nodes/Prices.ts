import type { Msat } from "@satrail/bitcoin/Msat"
import { Array, Clock, Context, Effect, Layer } from "effect"
import * as Amount from "../base/Amount.ts"
import * as Decimal from "../base/Decimal.ts"
import { ExchangeRates, type Rate, RateUnavailable } from "./ExchangeRates.ts"

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

/** What one bitcoin costs in a currency. */
export interface Quoted extends Rate {
  readonly currency: Amount.Fiat
}

export class Options extends Context.Service<
  Options,
  {
    /** A price older than this is no price. */
    readonly maxRateAgeMillis: number
  }
>()("@satrail/core/nodes/Prices/Options") {}

export const defaults: Options["Service"] = { maxRateAgeMillis: 60_000 }

/** Turns amounts in any currency into satoshis. */
export class Prices extends Context.Service<
  Prices,
  {
    /** Exact for sats and btc; fiat at the current rate, which must be young enough. */
    readonly price: (asked: Asked) => Effect.Effect<Priced, Amount.AmountInvalid | RateUnavailable>
    /** The rates that `price` would use now: one for each currency that has one young enough. Fails when none has. */
    readonly current: Effect.Effect<ReadonlyArray<Quoted>, RateUnavailable>
  }
>()("@satrail/core/nodes/Prices") {}

export const make = Effect.gen(function* () {
  const rates = yield* ExchangeRates
  const { maxRateAgeMillis } = yield* Options

  const offered = Amount.Currency.literals.filter((currency) => !Amount.isFiat(currency) || rates.lacks?.has(currency) !== true)

  /** The rate to be used now. */
  const young = Effect.fnUntraced(function* (currency: Amount.Fiat) {
    const rate = yield* rates.rate(currency)
    return (yield* Clock.currentTimeMillis) - rate.atMillis > maxRateAgeMillis ? yield* new RateUnavailable({ currency }) : rate
  })

  return Prices.of({
    price: Effect.fnUntraced(function* ({ amount, currency }) {
      if (!Amount.isFiat(currency))
        return { amount: yield* Effect.fromResult(Amount.toMsat(amount, currency)), rate: null, rateAtMillis: null }
      if (!offered.includes(currency)) {
        const message = `${currency} is not offered here. Use one of ${offered.join(", ")}.`
        return yield* new Amount.AmountInvalid({ reason: "unknown_currency", message })
      }
      const { price, atMillis } = yield* young(currency)
      return { amount: yield* Effect.fromResult(Amount.fiatToMsat(amount, price)), rate: Decimal.format(price), rateAtMillis: atMillis }
    }),
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
