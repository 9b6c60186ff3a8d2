import { assert, describe, it, vi } from "@effect/vitest"
import { Arbitrary, Result, Schema } from "effect"
import * as Amount from "../src/base/Amount.ts"
import * as Decimal from "../src/base/Decimal.ts"

const decimal = (text: string) => Result.getOrThrow(Decimal.parse(text))
const said = (result: Result.Result<bigint, Amount.AmountInvalid>) =>
  Result.isFailure(result) ? result.failure.reason : result.success
const bitcoin = (text: string, unit: Amount.BitcoinUnit) => said(Amount.toMsat(decimal(text), unit))
const fiat = (text: string, price: string) => said(Amount.fiatToMsat(decimal(text), decimal(price)))

describe("Amount", () => {
  it("amount: an amount in sats or btc is converted exactly", () => {
    assert.strictEqual(bitcoin("21.0", "sats"), 21_000n)
    assert.strictEqual(bitcoin("0.00000021", "btc"), 21_000n)
    assert.strictEqual(bitcoin("2.1e-7", "btc"), 21_000n)
    assert.strictEqual(bitcoin("1e3", "sats"), 1_000_000n)
    assert.strictEqual(bitcoin("1", "sats"), Amount.min)
    assert.strictEqual(bitcoin("21000000", "btc"), Amount.max)
  })

  it("amount: the decimals of a currency are determined once, because an export needs them for each line", () => {
    const made = vi.spyOn(Intl, "NumberFormat")
    try {
      for (let n = 0; n < 3; n++)
        assert.deepStrictEqual([Amount.decimals("usd"), Amount.decimals("jpy")], [2, 0])
      assert.isAtMost(made.mock.calls.length, 2)
    } finally {
      made.mockRestore()
    }
  })

  it("C34: amount: an amount in sats or btc is never rounded", () => {
    assert.strictEqual(bitcoin("21.5", "sats"), "fraction_of_a_sat")
    assert.strictEqual(bitcoin("0.000000215", "btc"), "fraction_of_a_sat")
    assert.strictEqual(bitcoin("0.000000001", "btc"), "fraction_of_a_sat")
  })

  it("C29 C35: amount: an amount must be positive and at most the total supply of bitcoin", () => {
    for (const text of ["0", "-1", "-0.5"]) {
      assert.strictEqual(bitcoin(text, "sats"), "not_positive")
      assert.strictEqual(fiat(text, "64000"), "not_positive")
    }
    assert.strictEqual(bitcoin("2100000000000001", "sats"), "above_supply")
    assert.strictEqual(bitcoin("21000000.00000001", "btc"), "above_supply")
    assert.strictEqual(fiat("1e32", "1"), "above_supply")
  })

  it("amount: a fiat amount is converted to the nearest sat, and half a sat is rounded up", () => {
    assert.strictEqual(fiat("1", "64000"), 1_563_000n) // 1562.5
    assert.strictEqual(fiat("1", "64000.01"), 1_562_000n)
    assert.strictEqual(fiat("10.01", "97123.45"), 10_306_000n) // 10306.47…
    assert.strictEqual(fiat("0.000001", "200"), 1_000n) // half a sat
  })

  it("amount: a price that is not positive is refused, and so is an amount that rounds to zero", () => {
    assert.strictEqual(fiat("0.000000999", "200"), "rounds_to_zero")
    assert.strictEqual(fiat("1", "0"), "price_not_positive")
    assert.strictEqual(fiat("1", "-1"), "price_not_positive")
  })

  it.prop(
    "amount: a converted fiat amount differs from the exact value by at most half a sat",
    {
      cents: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000_000 }))),
      price: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1_000, maximum: 50_000_000 })))
    },
    ({ cents, price }) => {
      const amount = Amount.fiatToMsat(Decimal.make(BigInt(cents), 2), Decimal.make(BigInt(price), 1))
      const exact = BigInt(cents) * 10n * 100_000_000n // the amount in sats, times 100, times the price in tenths
      const unit = BigInt(price) * 100n
      if (Result.isFailure(amount))
        return assert.strictEqual(
          amount.failure.reason,
          2n * exact < unit ? "rounds_to_zero" : "above_supply"
        )
      const off = (amount.success / 1000n) * unit - exact
      assert.isTrue(-unit < 2n * off && 2n * off <= unit)
    },
    { arbitrary: { seed: 11, runs: 300 } }
  )

  it("amount: currency codes are case-insensitive", () => {
    assert.deepStrictEqual(
      ["USD", "Sats", "btc"].map((text) => Result.getOrThrow(Amount.parseCurrency(text))),
      ["usd", "sats", "btc"]
    )
    for (const text of ["", "dollar", "sat", "uſd", "H\u212aD"])
      assert.isTrue(Result.isFailure(Amount.parseCurrency(text)), text)
    assert.deepStrictEqual(
      Amount.Currency.literals.filter((currency) => !Amount.isFiat(currency)),
      ["sats", "btc"]
    )
  })

  it("amount: before the price is known, a fiat amount must be positive with no more decimals than its currency, and an amount in sats or btc must be payable", () => {
    const judge = (digits: bigint, scale: number, currency: Amount.Currency) => {
      const judged = Amount.check(Decimal.make(digits, scale), currency)
      return Result.isFailure(judged) ? judged.failure.reason : "good"
    }
    assert.strictEqual(judge(0n, 0, "usd"), "not_positive")
    assert.strictEqual(judge(-1n, 0, "usd"), "not_positive")
    assert.strictEqual(judge(1n, 2, "usd"), "good")
    assert.strictEqual(judge(12_505n, 3, "eur"), "too_many_decimals")
    assert.strictEqual(judge(15n, 1, "jpy"), "too_many_decimals")
    assert.strictEqual(judge(0n, 0, "sats"), "not_positive")
    assert.strictEqual(judge(5n, 1, "sats"), "fraction_of_a_sat")
    assert.strictEqual(judge(21_000_001n, 0, "btc"), "above_supply")
    assert.strictEqual(judge(21n, 8, "btc"), "good")
  })
})
