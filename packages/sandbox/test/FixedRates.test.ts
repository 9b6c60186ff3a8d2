import { assert, it } from "@effect/vitest"
import * as Decimal from "@satrail/core/base/Decimal"
import { ExchangeRates } from "@satrail/core/nodes/ExchangeRates"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as FixedRates from "../src/FixedRates.ts"

it.effect("fixed rates: configured prices, and default prices for other currencies, are always current", () =>
  Effect.gen(function* () {
    const { rate } = yield* ExchangeRates
    const source = "simulated"
    assert.deepStrictEqual(yield* rate("usd"), { price: Decimal.make(640_005n, 1), atMillis: 0, source })
    yield* TestClock.adjust("1 day")
    assert.deepStrictEqual(yield* rate("eur"), { price: FixedRates.usual.eur, atMillis: 86_400_000, source })
  }).pipe(Effect.provide(FixedRates.layer({ usd: Decimal.make(640_005n, 1) })))
)
