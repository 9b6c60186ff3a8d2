import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Arbitrary, Clock, Effect, Layer, Option, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Amount from "../src/base/Amount.ts"
import * as Decimal from "../src/base/Decimal.ts"
import { ExchangeRates, RateUnavailable } from "../src/nodes/ExchangeRates.ts"
import * as Pricing from "../src/nodes/Prices.ts"
import * as Invoices from "../src/receiving/Invoices.ts"
import { Records } from "../src/service/Records.ts"
import { Withdrawals } from "../src/sending/Withdrawals.ts"
import {
  asked,
  beginsAtMillis,
  company,
  companyWith,
  has,
  made,
  now,
  outside,
  replace,
  run,
  scenario,
  step,
  steps
} from "./World.ts"

const hundredths = (value: number) => Decimal.make(BigInt(value), 2)

/** The value of `amount` at `price`, rounded down to hundredths. A payee may not receive more. */
const worth = (amount: bigint, price: Decimal.Decimal) =>
  (amount * price.digits * 100n) / (100_000_000_000n * 10n ** BigInt(price.scale))

const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))
const cents = Arbitrary.schema(Schema.Union([upTo(20), upTo(1_000_000_000)]))
// At prices below two million per bitcoin, half a satoshi (the most that rounding can add) is worth less than a
// hundredth.
const price = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 1_999_999_99 })))

describe("Prices", () => {
  it.prop(
    "C34 C36: prices: converting fiat to bitcoin and back never increases the amount, however small it is",
    { cents, price },
    ({ cents, price }) => {
      const amount = Amount.fiatToMsat(hundredths(cents), hundredths(price))
      if (Result.isSuccess(amount)) assert.isTrue(worth(amount.success, hundredths(price)) <= BigInt(cents))
    },
    { arbitrary: { seed: 7, runs: 500 } }
  )

  it.effect(
    "C36: prices: when a fiat payment fails after the rate has changed, exactly the held sats are released",
    () => {
      let price = 0n
      const moving = replace(ExchangeRates, () => ({
        rate: () =>
          Effect.map(Clock.currentTimeMillis, (atMillis) => ({ price: Decimal.make(price), atMillis }))
      }))
      return run({ change: moving }, function* () {
        const payer = yield* companyWith(10_000)
        const { confirm } = yield* Withdrawals
        for (const [before, after] of [
          [50_000n, 100_000n],
          [100_000n, 50_000n],
          [1_000_000n, 999n]
        ] as const) {
          price = before
          const { destination, paymentHash } = yield* outside({ behaviour: "hold" })
          const row = yield* made(
            confirm({ company: payer, asked: yield* asked(1, "usd"), destination, metadata: {} })
          )
          assert.strictEqual(row.amount, Msat.fromSats(100_000_000n / before))
          yield* step
          price = after
          yield* (yield* Sandbox).release({
            paymentHash: paymentHash ?? PaymentHash.make(""),
            outcome: "fail"
          })
          yield* steps(2)
          assert.strictEqual((yield* now(row)).status, "failed")
          assert.deepStrictEqual(yield* has(payer), { posted: 10_000, held: 0 })
        }
      })
    }
  )

  const aged = (ages: Partial<Record<Amount.Fiat, number>>) =>
    replace(ExchangeRates, () => ({
      rate: (currency) => {
        const age = ages[currency]
        return age === undefined
          ? Effect.fail(new RateUnavailable({ currency }))
          : Effect.succeed({
              price: Decimal.make(97_123_45n, 2),
              atMillis: beginsAtMillis - age,
              source: "Kraken"
            })
      }
    }))

  scenario(
    "prices: a rate with its currency, time and sources is stored with the record that used the rate",
    { change: aged({ usd: 5000 }) },
    function* () {
      const payer = yield* companyWith(5000)
      const { confirm } = yield* Withdrawals
      const row = yield* made(
        confirm({
          company: payer,
          asked: yield* asked(1, "usd"),
          destination: "settle@wallet.example",
          metadata: {}
        })
      )
      const rated = {
        rate: "97123.45",
        rateAtMillis: beginsAtMillis - 5000,
        fiatCurrency: "usd",
        rateSource: "Kraken"
      }
      assert.deepInclude(yield* now(row), rated)
      const ask = yield* asked(1, "usd")
      const { create } = yield* Invoices.Invoices
      const { id, companyId } = yield* made(
        create({
          companyId: (yield* company()).id,
          ...ask,
          description: "tea",
          expirySeconds: 3600,
          metadata: {}
        })
      )
      const invoice = Option.getOrThrow(yield* (yield* Records).invoice(companyId, id))
      assert.deepInclude(invoice, rated)
    }
  )

  scenario(
    "prices: the current rates are recent and in the API's order; if there are no rates, reading them fails",
    { change: aged({ chf: 0, usd: 60_000, eur: 60_001 }) },
    function* () {
      const { current } = yield* Pricing.Prices
      assert.deepStrictEqual(
        (yield* current).map(({ currency }) => currency),
        ["usd", "chf"]
      )
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(
        (yield* current).map(({ currency }) => currency),
        ["chf"]
      )
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Effect.flip(current))._tag, "RateUnavailable")
    }
  )
})

it.effect("prices: the error names an unavailable currency, and other currencies still have a price", () =>
  Effect.gen(function* () {
    const prices = yield* Pricing.Prices
    const refused = yield* Effect.flip(prices.price({ amount: Decimal.make(5n), currency: "nzd" }))
    assert.deepInclude(refused, { _tag: "AmountInvalid", reason: "unknown_currency" })
    assert.include(refused.message, "nzd is not supported. Use one of sats, btc, usd,")
    assert.strictEqual(
      (yield* prices.price({ amount: Decimal.make(5n), currency: "usd" })).amount,
      Msat.fromSats(10_000n)
    )
    assert.notInclude(
      (yield* prices.current).map(({ currency }) => currency),
      "nzd"
    )
  }).pipe(
    Effect.provide(
      Pricing.layer.pipe(
        Layer.provide(
          Layer.succeed(ExchangeRates, {
            lacks: new Set(["nzd"] as const),
            rate: (currency) =>
              currency === "nzd"
                ? Effect.die("this price is not needed")
                : Effect.map(Clock.currentTimeMillis, (atMillis) => ({
                    price: Decimal.make(50_000n),
                    atMillis
                  }))
          })
        )
      )
    )
  )
)
