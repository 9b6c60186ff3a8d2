import type { Fiat } from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import { ExchangeRates, RateUnavailable } from "@satrail/core/nodes/ExchangeRates"
import { Clock, Context, Effect, Layer } from "effect"

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

type Prices = Readonly<Record<Fiat, Decimal.Decimal>>

/** The other side of the rates. */
export class PretendRates extends Context.Service<
  PretendRates,
  {
    readonly prices: Prices
    /** While they are away there is no rate that is young enough. */
    readonly setAway: (isAway: boolean) => Effect.Effect<void>
  }
>()("@satrail/sandbox/FixedRates/PretendRates") {}

/** Prices that never move and are never old: those given, the usual ones for all others. */
export const layer = (given: Partial<Prices> = {}): Layer.Layer<ExchangeRates | PretendRates> =>
  Layer.effectContext(
    Effect.sync(() => {
      const prices = { ...usual, ...given }
      let isAway = false
      const port = ExchangeRates.of({
        rate: (currency) =>
          Effect.flatMap(Clock.currentTimeMillis, (atMillis) =>
            isAway ? Effect.fail(new RateUnavailable({ currency })) : Effect.succeed({ price: prices[currency], atMillis })
          )
      })
      const control = PretendRates.of({ prices, setAway: (away) => Effect.sync(() => void (isAway = away)) })
      return Context.make(ExchangeRates, port).pipe(Context.add(PretendRates, control))
    })
  )
