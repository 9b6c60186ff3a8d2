import { assert, describe, it } from "@effect/vitest"
import * as Decimal from "@satrail/core/base/Decimal"
import { Arbitrary, Schema } from "effect"
import { agreed, type Quote } from "../src/Quote.ts"
import { rules } from "../src/Rates.ts"

const between = (minimum: number, maximum: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))
const quote = (digits: number, scale = 0, atMillis = 0): Quote => ({
  currency: "usd",
  price: Decimal.make(BigInt(digits), scale),
  atMillis
})
const rate = (...prices: ReadonlyArray<number>) => {
  const found = agreed(
    prices.map((price) => quote(price)),
    rules,
    0
  )
  return found && Decimal.format(found.price)
}

describe("Quotes", () => {
  it("quotes: the rate is the exact median, whatever the order and notation of the prices", () => {
    assert.strictEqual(rate(100, 102, 101), "101")
    assert.strictEqual(rate(103, 100, 101, 102), "101.5")
    assert.strictEqual(rate(100, 101, 150), "100.5")
    const written = agreed([quote(1_000_001, 4), quote(100, 0), quote(10_003, 2)], rules, 0)
    assert.strictEqual(written && Decimal.format(written.price), "100.0001")
  })

  it("quotes: there is no rate if too few prices agree", () => {
    for (const prices of [[], [100], [100, 150], [100, 120, 150], [50, 100, 101, 150], [100, 100, 150, 150]])
      assert.isUndefined(rate(...prices), prices.join(" "))
  })

  it("quotes: prices within 5 % of the median agree", () => {
    assert.strictEqual(rate(100, 100, 105), "100")
    assert.strictEqual(rate(95, 100, 100, 105), "100")
    assert.strictEqual(rate(94, 100), "97")
    assert.isUndefined(rate(90, 100))
  })

  it("quotes: the rate expires with its oldest price", () => {
    const at = (nowMillis: number) =>
      agreed([quote(100, 0, 0), quote(101, 0, 10)], rules, nowMillis)?.atMillis
    assert.strictEqual(at(60_000), 0)
    assert.isUndefined(at(60_001))
  })

  for (const honest of [2, 3]) {
    it.prop(
      `quotes: with ${honest} correct quotes and one arbitrary quote, the rate is between the correct quotes`,
      {
        right: Arbitrary.schema(
          Schema.Tuple(
            Array.from({ length: honest }, () =>
              Schema.Int.check(Schema.isBetween({ minimum: 9_900, maximum: 10_100 }))
            )
          )
        ),
        wrong: between(1, 100_000)
      },
      ({ right, wrong }) => {
        const found = agreed(
          [...right, wrong].map((price) => quote(price)),
          rules,
          0
        )
        if (found === undefined) return assert.fail("there is a rate")
        const price = found.price.digits * 1000n
        const one = 10n ** BigInt(found.price.scale) * 1000n
        assert.isTrue(price >= BigInt(Math.min(...right)) * one && price <= BigInt(Math.max(...right)) * one)
      },
      { arbitrary: { seed: 5, runs: 500 } }
    )
  }
})
