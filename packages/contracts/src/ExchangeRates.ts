import { assert } from "@effect/vitest"
import { Currency, type Fiat, fiatToMsat, isFiat } from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import { ExchangeRates } from "@satrail/core/nodes/ExchangeRates"
import { Clock, Effect, Result } from "effect"
import * as Contract from "./Contract.ts"

const fiats: ReadonlyArray<Fiat> = Currency.literals.filter(isFiat)

/** Every currency that the source does not lack. */
const offered = Effect.map(ExchangeRates, ({ lacks }) => fiats.filter((currency) => lacks?.has(currency) !== true))

const each = <E, R>(check: (currency: Fiat) => Effect.Effect<void, E, R>) =>
  Effect.flatMap(offered, (currencies) => Effect.forEach(currencies, check, { discard: true }))

const rate = Effect.fnUntraced(function* (currency: Fiat) {
  return yield* (yield* ExchangeRates).rate(currency)
})

/** What keeps a customer from being charged by a price that is none. */
export const money = {
  "every currency that is not lacking has a price, and it is more than nothing": each(
    Effect.fnUntraced(function* (currency) {
      assert.isTrue((yield* rate(currency)).price.digits > 0n)
    })
  ),
  "a price is what one bitcoin costs, not what one unit buys": each(
    Effect.fnUntraced(function* (currency) {
      const { price } = yield* rate(currency)
      // A unit of any of them has been less than a hundredth of a bitcoin since 2013.
      assert.isTrue(price.digits >= 100n * 10n ** BigInt(price.scale))
    })
  ),
  "a price can be reckoned with exactly": each(
    Effect.fnUntraced(function* (currency) {
      const { price } = yield* rate(currency)
      assert.deepStrictEqual(price, Decimal.make(price.digits, price.scale))
      const sats = fiatToMsat(price, price)
      assert.strictEqual(Result.getOrThrow(sats), 100_000_000_000n)
    })
  ),
  "a price says when it was one: not in the future, and not long ago": each(
    Effect.fnUntraced(function* (currency) {
      const { atMillis } = yield* rate(currency)
      const now = yield* Clock.currentTimeMillis
      assert.isTrue(Number.isInteger(atMillis))
      assert.isAtMost(atMillis, now)
      assert.isAtLeast(atMillis, now - 60_000)
    })
  )
} satisfies Contract.Promises<ExchangeRates>

/** The rest. */
export const other = {
  "currencies differ: no price is given for another's": Effect.gen(function* () {
    const prices = yield* Effect.forEach(yield* offered, rate)
    assert.isAbove(new Set(prices.map(({ price }) => Decimal.format(price))).size, prices.length / 2)
  })
} satisfies Contract.Promises<ExchangeRates>

/** What every source of prices promises while it has any. */
export const promises = { ...money, ...other }

/** Holds a layer to every promise. */
export const suite = Contract.suite<ExchangeRates, typeof money, typeof other>("ExchangeRates", { money, other })
