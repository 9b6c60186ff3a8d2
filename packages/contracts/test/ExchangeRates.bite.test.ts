import * as Decimal from "@satrail/core/base/Decimal"
import { ExchangeRates, type Rate } from "@satrail/core/nodes/ExchangeRates"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import { Effect, Layer } from "effect"
import { promises } from "../src/ExchangeRates.ts"
import { bites } from "./mutants.ts"

const saying = (change: (rate: Rate) => Rate) =>
  Layer.provide(
    Layer.effect(
      ExchangeRates,
      Effect.map(ExchangeRates, ({ rate }) => ({ rate: (currency) => Effect.map(rate(currency), change) }))
    ),
    FixedRates.layer()
  )

bites("ExchangeRates", promises, FixedRates.layer(), {
  "one that says what a unit buys": [
    saying((rate) => ({ ...rate, price: Decimal.make(10n ** 12n / rate.price.digits, 12) })),
    ["a price is what one bitcoin costs, not what one unit buys"]
  ],
  "one that has no price and says nothing": [
    saying((rate) => ({ ...rate, price: Decimal.make(0n) })),
    ["every currency that is not lacking has a price, and it is more than nothing"]
  ],
  "one that never looks again": [
    saying((rate) => ({ ...rate, atMillis: 0 })),
    ["a price says when it was one: not in the future, and not long ago"]
  ],
  "one that counts in microseconds": [
    saying((rate) => ({ ...rate, atMillis: rate.atMillis * 1000 })),
    ["a price says when it was one: not in the future, and not long ago"]
  ],
  "one that knows dollars only": [
    saying((rate) => ({ ...rate, price: FixedRates.usual.usd })),
    ["currencies differ: no price is given for another's"]
  ],
  "one that writes zeros behind": [
    saying((rate) => ({ ...rate, price: { digits: rate.price.digits * 100n, scale: rate.price.scale + 2 } })),
    ["a price can be reckoned with exactly"]
  ]
})
