import type { Fiat } from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import { ExchangeRates } from "@satrail/core/nodes/ExchangeRates"
import { Clock, Effect, Layer } from "effect"

/** What one bitcoin costs in each currency, for ever. Round numbers, near what they once were. */
export const usual: Readonly<Record<Fiat, Decimal.Decimal>> = {
  usd: Decimal.make(50_000n),
  eur: Decimal.make(46_000n),
  gbp: Decimal.make(39_500n),
  jpy: Decimal.make(7_500_000n),
  cny: Decimal.make(360_000n),
  cad: Decimal.make(68_500n),
  aud: Decimal.make(76_500n),
  chf: Decimal.make(44_250n),
  hkd: Decimal.make(390_000n),
  nzd: Decimal.make(83_000n)
}

/** Prices that never move and are never old: those given, the usual ones for all others. */
export const layer = (prices: Partial<Readonly<Record<Fiat, Decimal.Decimal>>> = {}): Layer.Layer<ExchangeRates> =>
  Layer.succeed(
    ExchangeRates,
    ExchangeRates.of({
      rate: (currency) => Effect.map(Clock.currentTimeMillis, (atMillis) => ({ price: prices[currency] ?? usual[currency], atMillis }))
    })
  )
