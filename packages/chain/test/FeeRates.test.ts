import { assert, describe, it } from "@effect/vitest"
import { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as BitcoinRpc from "../src/BitcoinRpc.ts"
import * as FeeRates from "../src/FeeRates.ts"
import { type Call, node, type Said } from "./RpcServer.ts"

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

  // BTC per 1000 virtual bytes: 0.0001205 are 12.05 sats per virtual byte.
  const rate = 0.000_120_5
  const unknown: Said = { error: { code: -32601, message: "Method not found" } }
  for (const [what, smart, plain, expected] of [
    ["Core's estimate", { result: { feerate: rate, blocks: 6 } }, unknown, 13],
    ["btcd's estimate", unknown, { result: rate }, 13],
    [
      "none if Core has none yet",
      { result: { errors: ["Insufficient data"], blocks: 6 } },
      { result: rate },
      "none"
    ],
    ["none if Core's is zero", { result: { feerate: 0, blocks: 6 } }, unknown, "none"],
    ["none if btcd has none yet", unknown, { error: { code: -1, message: "not enough blocks" } }, "none"],
    ["none if btcd's is negative", unknown, { result: -1 }, "none"],
    ["unknown if Core does not respond", { status: 503, text: "" }, { result: rate }, "away"],
    ["unknown if btcd does not respond", unknown, { status: 503, text: "" }, "away"]
  ] satisfies ReadonlyArray<readonly [string, Said, Said, number | string]>) {
    it.live(`RPC: the fee rate for six blocks, in sats per virtual byte, is ${what}`, () =>
      Effect.gen(function* () {
        const asked = new Array<Call>()
        const { options } = yield* node((call) => {
          asked.push(call)
          return call.method === "estimatesmartfee" ? smart : plain
        })
        // A fallback is used if the node has no estimate, and not if it does not respond.
        const found = yield* Effect.match(
          BitcoinRpc.make({ ...options, feeRates: { fallback: 3 } }).feeRate,
          {
            onSuccess: (rate): number | string => rate,
            onFailure: () => "away"
          }
        )
        assert.strictEqual(found, expected === "none" ? 3 : expected)
        assert.deepStrictEqual(asked[0], {
          ...asked[0],
          method: "estimatesmartfee",
          params: [6, "CONSERVATIVE"]
        })
        assert.isTrue(
          asked.slice(1).every(({ method, params }) => method === "estimatefee" && params[0] === 6)
        )
      }).pipe(Effect.scoped)
    )
  }
})
