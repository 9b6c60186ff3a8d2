import type { Fiat } from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import { ExchangeRates, RateUnavailable } from "@satrail/core/nodes/ExchangeRates"
import { Clock, Context, Effect, Layer } from "effect"

/** Fixed price of one bitcoin in each currency. The numbers are round and close to past prices. */
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

type Prices = Readonly<Record<Fiat, Decimal.Decimal>>

export class SimulatedRates extends Context.Service<
  SimulatedRates,
  {
    readonly prices: Prices
    /** While this is on, no recent rate is available. */
    readonly setAway: (isAway: boolean) => Effect.Effect<void>
  }
>()("@satrail/sandbox/FixedRates/SimulatedRates") {}

/** Fixed prices that never expire: the given prices, and the default prices for all other currencies. */
export const layer = (given: Partial<Prices> = {}): Layer.Layer<ExchangeRates | SimulatedRates> =>
  Layer.effectContext(
    Effect.sync(() => {
      const prices = { ...usual, ...given }
      let isAway = false
      const port = ExchangeRates.of({
        rate: (currency) =>
          Effect.flatMap(Clock.currentTimeMillis, (atMillis) =>
            isAway
              ? Effect.fail(new RateUnavailable({ currency }))
              : Effect.succeed({ price: prices[currency], atMillis, source: "simulated" })
          )
      })
      const control = SimulatedRates.of({
        prices,
        setAway: (away) => Effect.sync(() => void (isAway = away))
      })
      return Context.make(ExchangeRates, port).pipe(Context.add(SimulatedRates, control))
    })
  )
