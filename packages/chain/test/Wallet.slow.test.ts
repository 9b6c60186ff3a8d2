import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type { Journal } from "@satrail/core/ledger/Journal"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import type * as Coin from "@satrail/core/nodes/Coin"
import type { Records } from "@satrail/core/service/Records"
import * as Payout from "@satrail/core/sending/Payout"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import * as Memory from "@satrail/service/memory/Memory"
import { Context, Effect, Layer } from "effect"
import * as HotSigner from "../src/HotSigner.ts"
import * as Keys from "../src/Keys.ts"
import { accounts, wallet, words } from "./Ours.ts"

const store = Layer.fresh(Memory.layer)

/** Starts a process's wallet on a store that other processes share. */
const started = (context: Context.Context<Journal | Records>) =>
  Effect.map(Effect.provideContext(Layer.build(Layer.fresh(wallet)), context), (built) =>
    Context.get(built, ChainWallet)
  )

describe("Addresses", () => {
  it.live("wallet: no address is issued twice, even by different processes or after a restart", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const context = yield* Layer.build(store)
        const processes = yield* Effect.forEach(Array.from({ length: 4 }), () => started(context))
        const give = (wallet: ChainWallet["Service"]) =>
          Effect.forEach(Array.from({ length: 60 }), () => wallet.newAddress("segwit"))
        const given = (yield* Effect.forEach(processes, give, { concurrency: "unbounded" })).flat()
        const later = yield* give(yield* started(context))
        const all = [...given, ...later]
        assert.strictEqual(new Set(all.map(({ index }) => index)).size, 300)
        assert.strictEqual(new Set(all.map(({ address }) => address)).size, 300)
        const keys = Keys.make(accounts)
        for (const { index, address } of all.slice(0, 20)) {
          assert.strictEqual(keys.key({ type: "segwit", branch: 0, index }).address.address, address)
        }
        assert.isAtMost(Math.max(...all.map(({ index }) => index)), 300 + 5 * 10)
      })
    )
  )

  it.live("wallet: a restart skips fewer than ten addresses, half of the usual gap limit", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const context = yield* Layer.build(store)
        let before = -1
        for (let run = 0; run < 5; run++) {
          const wallet = yield* started(context)
          for (const { index } of yield* Effect.forEach([1, 2, 3], () => wallet.newAddress("segwit"))) {
            assert.isAtMost(index - before, 10)
            before = index
          }
        }
      })
    )
  )
})

/** Coins spread over 200 keys. */
const many = (count: number): ReadonlyArray<Coin.Coin> => {
  const keys = Keys.make(accounts)
  return Array.from({ length: count }, (_, n) => ({
    outpoint: `${n.toString(16).padStart(64, "0")}:0`,
    scriptPubKey: keys.key({ type: "taproot", branch: 0, index: n % 200 }).address.scriptPubKey,
    amount: Msat.fromSats(10_000 + ((n * 7919) % 5000)),
    type: "taproot",
    branch: 0,
    index: n % 200,
    isConfirmed: true
  }))
}

/**
 * Returns the longest event-loop turn while `effect` runs, as a share of the total CPU time, so that the
 * machine's speed does not matter. Other work waits for that turn.
 */
const watched = Effect.fnUntraced(function* <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  check: (value: A) => void
) {
  let [longest, before] = [0, process.threadCpuUsage()]
  let isOver = false
  const tick = () => {
    const now = process.threadCpuUsage()
    longest = Math.max(longest, now.user + now.system - before.user - before.system)
    before = now
    if (!isOver) setImmediate(tick)
  }
  setImmediate(tick)
  yield* Effect.sleep(5)
  longest = 0
  const begun = process.threadCpuUsage()
  check(yield* effect)
  const { user, system } = process.threadCpuUsage(begun)
  yield* Effect.sleep(5)
  isOver = true
  return longest / (user + system)
})

describe("Payouts", () => {
  it.live.each([1, 100])(
    "wallet: when 60 of 10,000 coins are selected for %i payments, no turn of the event loop takes more than a tenth of the work",
    (count) =>
      Effect.scoped(
        Effect.gen(function* () {
          const context = yield* Layer.build(store)
          const coins = many(10_000)
          const records = { ...Context.get(context, SendingReads), coins: () => Effect.succeed(coins) }
          const full = Context.add(context, SendingReads, records)
          const signer = HotSigner.make(words, "regtest")
          const ask = {
            payments: Array.from({ length: count }, () => ({
              scriptPubKey: `0014${"07".repeat(20)}`,
              amount: Msat.fromSats(870_000 / count),
              feeLimit: Msat.fromSats(50_000 / count)
            })),
            feeRate: 2,
            free: (outpoints: ReadonlyArray<string>) => Effect.succeed(new Set(outpoints))
          }
          // A wallet that has just started has no cached keys.
          const round = Effect.gen(function* () {
            const draft = yield* (yield* started(full)).build(ask)
            return Effect.as(signer.sign(draft.psbt), draft)
          })
          yield* yield* round // warm up, so that compilation is not measured
          // Use the quietest round, to exclude garbage collection and other load on the same core.
          const rounds = yield* Effect.replicateEffect(
            watched(Effect.flatten(round), (draft) => assert.isAtLeast(draft.coins.length, 55)),
            5
          )
          assert.isBelow(Math.min(...rounds), 0.1) // a round takes about 700 ms
        })
      )
  )

  it("wallet: the largest coins are selected, up to the limit, except coins that cost more to spend than they are worth", () => {
    const output = { scriptPubKey: `0014${"07".repeat(20)}`, sats: 20_000n }
    const ask = { outputs: [output], feeRate: 1, feeLimitSats: 100_000n }
    const chosen = Payout.select({ ...ask, coins: many(50) })
    assert.isTrue("coins" in chosen && chosen.coins.length === 2)
    const dust = many(50).map((coin) => ({ ...coin, amount: Msat.fromSats(57) }))
    assert.isTrue("neededSats" in Payout.select({ ...ask, coins: dust }))
    assert.isTrue(
      "neededSats" in
        Payout.select({ ...ask, outputs: [{ ...output, sats: 14_000n * 600n }], coins: many(2000) })
    )
  })
})
