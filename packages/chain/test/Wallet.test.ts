import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Stops from "@satrail/core/accounts/Stops"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import type * as Coin from "@satrail/core/nodes/Coin"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import * as Memory from "@satrail/service/memory/Memory"
import { Context, Effect, Fiber, Layer, Logger, Option } from "effect"
import { TestClock } from "effect/testing"
import * as Books from "../src/Books.ts"
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
  const ports = Context.add(store, SendingReads, reads)
  const process = Effect.provideContext(Layer.build(Layer.fresh(Wallet.layer(accounts, unspent))), ports)
  let built = yield* process
  const books = yield* Effect.provideContext(
    Layer.build(Layer.fresh(Books.layer(accounts.fingerprint, unspent))),
    ports
  )
  const stops = yield* Effect.provideContext(Stops.make, Context.merge(ports, books))
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Error") errors.push(message)
  })
  /** Builds a payout of this amount, while other payouts have taken some coins. */
  const build = (sats: number, taken: ReadonlyArray<string> = []) =>
    Effect.suspend(() =>
      Context.get(built, ChainWallet).build({
        payments: [
          {
            scriptPubKey: `0014${"07".repeat(20)}`,
            amount: Msat.fromSats(sats),
            feeLimit: Msat.fromSats(2_000)
          }
        ],
        feeRate: 2,
        free: (outpoints) => Effect.succeed(new Set(outpoints.filter((one) => !taken.includes(one))))
      })
    ).pipe(Effect.provide(Logger.layer([logger])))
  /** Builds a payout of this amount, and returns the coins that it spends. */
  const spends = (sats: number) => Effect.map(build(sats), (draft) => draft.coins)
  const isPaused = Effect.map(
    Context.get(store, LedgerReads).cursor("paused sending"),
    Option.exists((value) => value !== "")
  )
  /** Replaces the process by one with the same store. */
  const restart = Effect.map(process, (next) => void (built = next))
  const [pause, resume] = [stops.pause("sending"), stops.resume("sending")]
  return { chain, ours, asked, errors, build, spends, isPaused, restart, pause, resume }
})

describe("Change of a payout", () => {
  it.effect(
    "wallet: attempts that never become a payout use up one change key, however long the signer is away",
    () =>
      Effect.gen(function* () {
        const { build } = yield* world
        const index = (taken: ReadonlyArray<string>) =>
          Effect.map(build(50_000, taken), ({ change }) => change?.index)
        for (const _ of [1, 2, 3]) assert.strictEqual(yield* index([]), 0)
        // The last attempt was stored, so its coin is taken.
        assert.strictEqual(yield* index([outpoint(1)]), 1)
      })
  )

  it.effect(
    "wallet: two payouts never have the same change key, although a draft between them spends coins of both",
    () =>
      Effect.gen(function* () {
        const { build } = yield* world
        const index = (sats: number, taken: ReadonlyArray<string>) =>
          Effect.map(build(sats, taken), ({ change }) => change?.index)
        // The first draft is stored, but later than the second one is built, as when the store's answer is lost.
        assert.strictEqual(yield* index(150_000, []), 0)
        assert.strictEqual(yield* index(200_000, []), 0)
        assert.strictEqual(yield* index(50_000, [outpoint(1), outpoint(2)]), 1)
      })
  )
})

describe("Coins of a payout", () => {
  it.effect("wallet: the chain is asked once per payout, about its confirmed coins only", () =>
    Effect.gen(function* () {
      const { asked, errors, spends } = yield* world
      const all = [outpoint(1), outpoint(2), outpoint(3)]
      assert.deepStrictEqual(yield* spends(250_000), [...all, outpoint(4)])
      for (const _ of [1, 2]) assert.deepStrictEqual(yield* spends(50_000), [outpoint(1)])
      assert.deepStrictEqual(asked, [all, [outpoint(1)], [outpoint(1)]])
      assert.deepStrictEqual(errors, [])
    })
  )

  it.effect(
    "wallet: while a coin is spent on chain, payouts wait, and sending is paused after ten minutes",
    () =>
      Effect.gen(function* () {
        const { chain, asked, errors, spends, isPaused } = yield* world
        const waits = Effect.gen(function* () {
          const error = yield* Effect.flip(spends(50_000))
          assert.strictEqual(
            error instanceof ChainUnavailable && error.reason,
            "coins are spent on chain, but not by a payout in the database"
          )
        })
        chain.gone = new Set([outpoint(1), outpoint(2)])
        yield* waits
        assert.deepStrictEqual(asked, [[outpoint(1), outpoint(2), outpoint(3)]])
        yield* TestClock.adjust("599 seconds")
        yield* waits
        assert.deepStrictEqual([yield* isPaused, errors.length], [false, 1])
        assert.include(JSON.stringify(errors), outpoint(2))
        // A reorganization returns the coins.
        chain.gone = new Set()
        assert.deepStrictEqual(yield* spends(50_000), [outpoint(1)])
        chain.gone = new Set([outpoint(1)])
        yield* TestClock.adjust("1 second")
        yield* waits
        assert.isFalse(yield* isPaused)
        yield* TestClock.adjust("10 minutes")
        const last = yield* Effect.forkChild(waits)
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(last)
        assert.isTrue(yield* isPaused)
      })
  )

  it.effect(
    "wallet: the first payout of a process waits if any coin is spent on chain, even one that it would not spend",
    () =>
      Effect.gen(function* () {
        const { chain, spends } = yield* world
        chain.gone = new Set([outpoint(3)])
        assert.strictEqual((yield* Effect.flip(spends(50_000)))._tag, "ChainUnavailable")
        chain.gone = new Set()
        assert.deepStrictEqual(yield* spends(50_000), [outpoint(1)])
      })
  )

  it.effect(
    "wallet: after the operator has resumed sending, payouts leave out the coins that are spent on chain",
    () =>
      Effect.gen(function* () {
        const { asked, chain, errors, spends } = yield* world
        chain.gone = new Set([outpoint(1)])
        yield* Effect.flip(spends(50_000))
        yield* TestClock.adjust("10 minutes")
        const last = yield* Effect.forkChild(Effect.flip(spends(50_000)))
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(last)
        const { length } = errors
        const count = asked.length
        for (const _ of [1, 2]) assert.deepStrictEqual(yield* spends(50_000), [outpoint(2)])
        assert.deepStrictEqual(
          [asked.slice(count), errors.length],
          [[[outpoint(1), outpoint(2), outpoint(3)], [outpoint(2)]], length]
        )
        // Another missing coin is a new reason to wait.
        chain.gone.add(outpoint(2))
        assert.strictEqual((yield* Effect.flip(spends(50_000)))._tag, "ChainUnavailable")
        chain.gone = new Set()
        yield* TestClock.adjust("10 minutes")
        assert.deepStrictEqual(yield* spends(50_000), [outpoint(1)])
      })
  )

  it.effect(
    "wallet: the ten minutes for which payouts wait for a missing coin go on over a restart, and a coin that returns ends them",
    () =>
      Effect.gen(function* () {
        const { chain, spends, isPaused, restart } = yield* world
        const pauses = Effect.gen(function* () {
          const last = yield* Effect.forkChild(Effect.flip(spends(50_000)))
          yield* TestClock.adjust("1 second")
          yield* Fiber.join(last)
          return yield* isPaused
        })
        chain.gone = new Set([outpoint(1)])
        assert.isFalse(yield* pauses)
        yield* TestClock.adjust("6 minutes")
        yield* restart
        assert.isFalse(yield* pauses)
        // Back in the chain, and missing again: the ten minutes begin again.
        chain.gone = new Set()
        assert.deepStrictEqual(yield* spends(50_000), [outpoint(1)])
        chain.gone = new Set([outpoint(1)])
        yield* restart
        assert.isFalse(yield* pauses)
        yield* TestClock.adjust("6 minutes")
        yield* restart
        assert.isFalse(yield* pauses)
        yield* TestClock.adjust("4 minutes")
        yield* restart
        assert.isTrue(yield* pauses)
      })
  )

  for (const [what, isStopped, isCounted] of [
    ["while they are counted", false, true],
    ["after they paused sending", true, true],
    ["before any payout missed them", false, false]
  ] as const) {
    it.effect(
      `wallet: resuming sending acknowledges the missing coins ${what}, and they never pause it again`,
      () =>
        Effect.gen(function* () {
          const { chain, spends, isPaused, restart, resume } = yield* world
          chain.gone = new Set([outpoint(1), outpoint(3)])
          if (isCounted) yield* Effect.flip(spends(50_000))
          if (isStopped) {
            yield* TestClock.adjust("10 minutes")
            const last = yield* Effect.forkChild(Effect.flip(spends(50_000)))
            yield* TestClock.adjust("1 second")
            yield* Fiber.join(last)
          }
          assert.strictEqual(yield* isPaused, isStopped)
          // A deposit whose coin a lost payout has spent is credited while sending is paused.
          chain.gone.add(outpoint(2))
          const resumed = yield* Effect.forkChild(resume)
          yield* TestClock.adjust("1 second")
          yield* Fiber.join(resumed)
          for (const _ of [1, 2, 3]) {
            assert.deepStrictEqual(yield* spends(50_000), [outpoint(4)])
            yield* TestClock.adjust("11 minutes")
            yield* restart
          }
          assert.isFalse(yield* isPaused)
        })
    )
  }

  it.effect("wallet: a coin that is missing only after sending was resumed is a new reason to wait", () =>
    Effect.gen(function* () {
      const { chain, spends, resume } = yield* world
      chain.gone = new Set([outpoint(1)])
      const resumed = yield* Effect.forkChild(resume)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(resumed)
      assert.deepStrictEqual(yield* spends(50_000), [outpoint(2)])
      chain.gone.add(outpoint(2))
      assert.strictEqual((yield* Effect.flip(spends(50_000)))._tag, "ChainUnavailable")
    })
  )

  it.effect("wallet: sending can be resumed while the chain is unavailable", () =>
    Effect.gen(function* () {
      const { chain, isPaused, pause, resume } = yield* world
      yield* TestClock.setTime(1)
      const paused = yield* Effect.forkChild(Effect.andThen(pause, resume))
      chain.isAway = true
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(paused)
      assert.isFalse(yield* isPaused)
    })
  )

  it.effect(
    "wallet: a coin that another process's payout has just spent is no error; the store refuses to spend it twice",
    () =>
      Effect.gen(function* () {
        const { chain, ours, asked, errors, spends } = yield* world
        chain.gone = new Set([outpoint(1)])
        ours.add(outpoint(1))
        assert.deepStrictEqual(yield* spends(50_000), [outpoint(1)])
        assert.deepStrictEqual([asked.length, errors], [1, []])
      })
  )

  it.effect(
    "wallet: no payout is built while the chain is unavailable, and no coin counts as spent because of it",
    () =>
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
