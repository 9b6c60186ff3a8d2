import * as Decimal from "@satrail/core/base/Decimal"
import { ExchangeRates, type Rate } from "@satrail/core/nodes/ExchangeRates"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import { Effect, Layer } from "effect"
import { promises } from "../src/nodes/ExchangeRates.ts"
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
  "a feed that returns the inverse price": [
    saying((rate) => ({ ...rate, price: Decimal.make(10n ** 12n / rate.price.digits, 12) })),
    ["a price is what one bitcoin costs, not what one unit buys"]
  ],
  "a feed that returns a zero price": [
    saying((rate) => ({ ...rate, price: Decimal.make(0n) })),
    ["every supported currency has a positive price"]
  ],
  "a feed that never updates its prices": [
    saying((rate) => ({ ...rate, atMillis: 0 })),
    ["the time of a price is recent and not in the future"]
  ],
  "a feed with times in microseconds": [
    saying((rate) => ({ ...rate, atMillis: rate.atMillis * 1000 })),
    ["the time of a price is recent and not in the future"]
  ],
  "a feed that returns dollars for every currency": [
    saying((rate) => ({ ...rate, price: FixedRates.usual.usd })),
    ["no currency gets the price of another"]
  ],
  "a feed that appends trailing zeros": [
    saying((rate) => ({ ...rate, price: { digits: rate.price.digits * 100n, scale: rate.price.scale + 2 } })),
    ["a price is exact in decimal arithmetic"]
  ]
})
