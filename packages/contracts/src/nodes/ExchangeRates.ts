import { assert } from "@effect/vitest"
import { Currency, type Fiat, fiatToMsat, isFiat } from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import { ExchangeRates } from "@satrail/core/nodes/ExchangeRates"
import { Clock, Effect, Result } from "effect"
import * as Contract from "../Contract.ts"

const fiats: ReadonlyArray<Fiat> = Currency.literals.filter(isFiat)

/** Every currency that the source supports. */
const offered = Effect.map(ExchangeRates, ({ lacks }) =>
  fiats.filter((currency) => lacks?.has(currency) !== true)
)

const each = <E, R>(check: (currency: Fiat) => Effect.Effect<void, E, R>) =>
  Effect.flatMap(offered, (currencies) => Effect.forEach(currencies, check, { discard: true }))

const rate = Effect.fnUntraced(function* (currency: Fiat) {
  return yield* (yield* ExchangeRates).rate(currency)
})

/** Guarantees that no customer is charged at an invalid price. */
export const money = {
  "every supported currency has a positive price": each(
    Effect.fnUntraced(function* (currency) {
      assert.isTrue((yield* rate(currency)).price.digits > 0n)
    })
  ),
  "a price is what one bitcoin costs, not what one unit buys": each(
    Effect.fnUntraced(function* (currency) {
      const { price } = yield* rate(currency)
      // Since 2013, one unit of any currency has been worth less than a hundredth of a bitcoin.
      assert.isTrue(price.digits >= 100n * 10n ** BigInt(price.scale))
    })
  ),
  "a price is exact in decimal arithmetic": each(
    Effect.fnUntraced(function* (currency) {
      const { price } = yield* rate(currency)
      assert.deepStrictEqual(price, Decimal.make(price.digits, price.scale))
      const sats = fiatToMsat(price, price)
      assert.strictEqual(Result.getOrThrow(sats), 100_000_000_000n)
    })
  ),
  "the time of a price is recent and not in the future": each(
    Effect.fnUntraced(function* (currency) {
      const { atMillis } = yield* rate(currency)
      const now = yield* Clock.currentTimeMillis
      assert.isTrue(Number.isInteger(atMillis))
      assert.isAtMost(atMillis, now)
      assert.isAtLeast(atMillis, now - 60_000)
    })
  )
} satisfies Contract.Promises<ExchangeRates>

/** Other guarantees. */
export const other = {
  "no currency gets the price of another": Effect.gen(function* () {
    const prices = yield* Effect.forEach(yield* offered, rate)
    assert.isAbove(new Set(prices.map(({ price }) => Decimal.format(price))).size, prices.length / 2)
  })
} satisfies Contract.Promises<ExchangeRates>

/** The guarantees that every source of current prices must provide. */
export const promises = { ...money, ...other }

/** Runs the contract against a layer. */
export const suite = Contract.suite<ExchangeRates, typeof money, typeof other>("ExchangeRates", {
  money,
  other
})
