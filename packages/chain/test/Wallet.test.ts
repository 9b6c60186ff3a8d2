import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import type * as Coin from "@satrail/core/nodes/Coin"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import * as Memory from "@satrail/memory/Memory"
import { Context, Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import * as Keys from "../src/Keys.ts"
import * as Wallet from "../src/Wallet.ts"
import { accounts } from "./Ours.ts"

const outpoint = (n: number) => `${String(n).repeat(64)}:0`

/** Four coins, numbered from the largest to the smallest. The last one is unconfirmed change. */
const coins: ReadonlyArray<Coin.Coin> = [1, 2, 3, 4].map((n) => ({
  outpoint: outpoint(n),
  scriptPubKey: Keys.make(accounts).key({ type: "taproot", branch: 0, index: n }).address.scriptPubKey,
  amount: Msat.fromSats(100_000 - n * 10_000),
  type: "taproot",
  branch: 0,
  index: n,
  isConfirmed: n < 4
}))

/**
 * A wallet with these coins on a chain that lacks some of them. Records the coins that the chain is asked about,
 * and the logged errors.
 */
const world = Effect.gen(function* () {
  const chain = { gone: new Set<string>(), isAway: false }
  const ours = new Set<string>()
  const asked: Array<ReadonlyArray<string>> = []
  const errors: Array<unknown> = []
  const unspent = (outpoints: ReadonlyArray<string>) =>
    Effect.suspend(() => {
      asked.push(outpoints)
      return chain.isAway
        ? Effect.fail(new ChainUnavailable({ operation: "unspent", cause: new Error("away") }))
        : Effect.succeed(outpoints.filter((one) => !chain.gone.has(one)))
    })
  const store = yield* Layer.build(Layer.fresh(Memory.layer))
  const reads = SendingReads.of({
    ...Context.get(store, SendingReads),
    coins: () => Effect.succeed(coins),
    spentCoins: (outpoints) => Effect.succeed(new Set(outpoints.filter((one) => ours.has(one))))
  })
  const layer = Layer.fresh(Wallet.layer(accounts, unspent))
  const built = yield* Effect.provideContext(Layer.build(layer), Context.add(store, SendingReads, reads))
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Error") errors.push(message)
  })
  /** Builds a payout of this amount, and returns the coins that it spends. */
  const spends = (sats: number) =>
    Context.get(built, ChainWallet)
      .build({
        payments: [{ scriptPubKey: `0014${"07".repeat(20)}`, amount: Msat.fromSats(sats), feeLimit: Msat.fromSats(2_000) }],
        feeRate: 2,
        free: (outpoints) => Effect.succeed(new Set(outpoints))
      })
      .pipe(
        Effect.map((draft) => draft.coins),
        Effect.provide(Logger.layer([logger]))
      )
  return { chain, ours, asked, errors, spends }
})

describe("Coins of a payout", () => {
  it.effect("wallet: the chain is asked once per payout, about its confirmed coins only", () =>
    Effect.gen(function* () {
      const { asked, errors, spends } = yield* world
      assert.deepStrictEqual(yield* spends(50_000), [outpoint(1)])
      assert.deepStrictEqual(yield* spends(250_000), [outpoint(1), outpoint(2), outpoint(3), outpoint(4)])
      assert.deepStrictEqual(asked, [[outpoint(1)], [outpoint(1), outpoint(2), outpoint(3)]])
      assert.deepStrictEqual(errors, [])
    })
  )

  it.effect("wallet: coins that are spent on chain are left out and reported once, and checked again after ten minutes", () =>
    Effect.gen(function* () {
      const { chain, asked, errors, spends } = yield* world
      chain.gone = new Set([outpoint(1), outpoint(2)])
      assert.deepStrictEqual(yield* spends(50_000), [outpoint(3)])
      assert.deepStrictEqual(asked, [[outpoint(1)], [outpoint(2), outpoint(3)]])
      assert.deepStrictEqual(yield* spends(50_000), [outpoint(3)])
      assert.deepStrictEqual(asked.slice(2), [[outpoint(3)]])
      assert.strictEqual(errors.length, 1)
      assert.include(JSON.stringify(errors), outpoint(2))
      // A reorganization returns the coins.
      chain.gone = new Set()
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(yield* spends(50_000), [outpoint(1)])
      assert.strictEqual(errors.length, 1)
    })
  )

  it.effect("wallet: a coin that another process's payout has just spent is no error; the store refuses to spend it twice", () =>
    Effect.gen(function* () {
      const { chain, ours, asked, errors, spends } = yield* world
      chain.gone = new Set([outpoint(1)])
      ours.add(outpoint(1))
      assert.deepStrictEqual(yield* spends(50_000), [outpoint(1)])
      assert.deepStrictEqual([asked.length, errors], [1, []])
    })
  )

  it.effect("wallet: no payout is built while the chain is unavailable, and no coin counts as spent because of it", () =>
    Effect.gen(function* () {
      const { chain, errors, spends } = yield* world
      chain.isAway = true
      assert.strictEqual((yield* Effect.flip(spends(50_000)))._tag, "ChainUnavailable")
      chain.isAway = false
      assert.deepStrictEqual(yield* spends(50_000), [outpoint(1)])
      assert.deepStrictEqual(errors, [])
    })
  )
})
