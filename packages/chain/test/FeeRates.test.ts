import { assert, describe, it } from "@effect/vitest"
import { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as FeeRates from "../src/FeeRates.ts"

const says = (rate: number | undefined): FeeRates.Source => Effect.succeed(rate)
const away: FeeRates.Source = Effect.fail(new ChainUnavailable({ operation: "feeRate", cause: "away" }))

describe("the fee rate", () => {
  for (const [what, source, expected] of [
    ["the node's estimate, rounded up", says(12.3), 13],
    ["at least the minimum relay fee rate", says(0.1), 1],
    ["at most the ceiling", says(1e9), 500]
  ] as const) {
    it.effect(`fee rate: the fee rate is ${what}`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* FeeRates.make(source), expected)
      })
    )
  }

  it.effect("fee rate: a missing estimate counts as an outage, unless the operator has set a fallback", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(FeeRates.make(says(undefined))))._tag, "ChainUnavailable")
      assert.strictEqual(yield* FeeRates.make(says(undefined), { fallback: 2 }), 2)
      assert.strictEqual((yield* Effect.flip(FeeRates.make(away, { fallback: 2 })))._tag, "ChainUnavailable")
    })
  )

  it.effect("fee rate: an estimate is read again after the clock was set back", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(3_600_000)
      let source = says(5)
      const rate = FeeRates.make(Effect.suspend(() => source))
      assert.strictEqual(yield* rate, 5)
      yield* TestClock.setTime(0)
      source = says(9)
      assert.strictEqual(yield* rate, 9)
      yield* TestClock.setTime(-3_600_000)
      source = away
      assert.strictEqual((yield* Effect.flip(rate))._tag, "ChainUnavailable")
    })
  )

  it.effect("fee rate: the last estimate is used during an outage for at most ten minutes", () =>
    Effect.gen(function* () {
      let source = says(5)
      const rate = FeeRates.make(Effect.suspend(() => source))
      assert.strictEqual(yield* rate, 5)
      source = says(9)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* rate, 5)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* rate, 9)
      source = away
      yield* TestClock.adjust("9 minutes")
      assert.strictEqual(yield* rate, 9)
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* Effect.flip(rate))._tag, "ChainUnavailable")
    })
  )
})
