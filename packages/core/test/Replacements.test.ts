import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Context, Effect, Logger } from "effect"
import { ChainSource } from "../src/nodes/ChainSource.ts"
import { Records } from "../src/service/Records.ts"
import { SettledPayouts } from "../src/sending/SettledPayouts.ts"
import type { Withdrawal } from "../src/sending/Withdrawal.ts"
import {
  accounts,
  has,
  mine,
  now,
  outputsOf,
  paying,
  type Ports,
  replace,
  run,
  scenario,
  standing,
  step,
  steps,
  weather
} from "./World.ts"

const candidates = Effect.fnUntraced(function* ({ companyId, id }: Withdrawal) {
  return yield* (yield* Records).candidates(companyId, id)
})

const payout = paying(42_000, { type: "chain_address" }, 20_000)

const halfAnHour = steps(31, 60)

describe("Payouts that stay unconfirmed", () => {
  scenario(
    "replacement: a replacement spends the same coins at the current fee rate; the operator bears the excess over the held fee",
    () => ({ logsErrors: true, ...weather() }),
    function* ({ sky }) {
      const { payer, row } = yield* payout
      yield* step
      const [first] = yield* candidates(row)
      sky.rate = 6
      yield* halfAnHour
      const [again, second, ...others] = yield* candidates(row)
      assert.deepStrictEqual([again, others], [first, []])
      if (first === undefined || second === undefined) return assert.fail("no replacement")
      assert.isTrue(
        second.networkFee > row.networkAllowance && second.networkFee <= row.networkAllowance * 3n
      )
      assert.strictEqual((yield* now(row)).chainTxId, second.txId)
      assert.deepStrictEqual(yield* outputsOf(row), [
        ["gone", 20_000],
        ["mempool", 20_000]
      ])
      // With two candidates, one confirmation does not show which of them won.
      yield* mine(5)
      yield* steps(2)
      assert.strictEqual(yield* standing(row), "pending")
      yield* mine(1)
      yield* steps(2)
      const { status, chainTxId, networkFee } = yield* now(row)
      assert.deepStrictEqual([status, chainTxId, networkFee], ["settled", second.txId, second.networkFee])
      assert.deepStrictEqual(yield* has(payer), { posted: 42_000 - 20_620, held: 0 })
      const mining = Number(networkFee) / 1000
      assert.deepInclude(yield* accounts, { chain: 20_000 + mining, service_fees: 120, loss: 500 - mining })
    }
  )

  scenario(
    "replacement: if a replaced payout's original transaction is mined, the payout settles with that transaction and its cost",
    weather,
    function* ({ sky }) {
      const { row } = yield* payout
      yield* step
      const [first] = yield* candidates(row)
      sky.rate = 4
      sky.deaf = (rawTx) => rawTx !== first?.rawTx
      yield* halfAnHour
      assert.strictEqual((yield* candidates(row)).length, 2)
      yield* mine(6)
      yield* steps(2)
      const { status, chainTxId, networkFee, rawTx } = yield* now(row)
      assert.deepStrictEqual(
        [status, chainTxId, networkFee, rawTx],
        ["settled", first?.txId, first?.networkFee, first?.rawTx]
      )
      assert.deepStrictEqual(yield* outputsOf(row), [["mined", 20_000]])
    }
  )

  it.effect(
    "replacement: a payout does not settle if a reorganization removes its transaction while the transaction's depth is being counted",
    () => {
      const { sky, change } = weather()
      let isTaken = false
      const shifting = (ports: Context.Context<Ports>) =>
        replace(ChainSource, (chain) => ({
          transaction: (txId) =>
            Effect.tap(chain.transaction(txId), ({ _tag }) => {
              if (_tag !== "mined" || !isTaken) return Effect.void
              isTaken = false
              // Replaces the chain five times, each time with a longer one that lacks the transaction.
              return Effect.orDie(Effect.forEach([1, 2, 3, 4, 5], Context.get(ports, Sandbox).reorg))
            })
        }))(ports)
      return run({ isPending: true, change: (ports) => shifting(change(ports)) }, function* () {
        const { row } = yield* payout
        yield* step
        sky.rate = 4
        yield* halfAnHour
        assert.strictEqual((yield* candidates(row)).length, 2)
        yield* mine(1)
        isTaken = true
        yield* steps(2)
        assert.deepStrictEqual(yield* outputsOf(row), [
          ["gone", 20_000],
          ["mempool", 20_000]
        ])
        assert.strictEqual(yield* standing(row), "pending")
      })
    }
  )

  for (const rate of [1, 2]) {
    scenario(
      `replacement: no replacement is made while the payout already pays the current fee rate of ${rate}`,
      () => ({ isPending: true, leaves: "pending", ...weather() }),
      function* ({ sky }) {
        const { row } = yield* payout
        yield* step
        sky.rate = rate
        yield* halfAnHour
        assert.strictEqual((yield* candidates(row)).length, 1)
      }
    )
  }

  scenario(
    "replacement: replacements continue as the fee rate rises, and their fee never exceeds three times the held fee",
    () => ({ logsErrors: true, ...weather() }),
    function* ({ sky, sent }) {
      const { row } = yield* payout
      yield* step
      for (const rate of [4, 6, 8, 20, 50]) {
        sky.rate = rate
        yield* halfAnHour
      }
      const all = yield* candidates(row)
      assert.isAbove(all.length, 3)
      assert.strictEqual(new Set(sent).size, all.length)
      assert.isTrue((all.at(-1)?.networkFee ?? 0n) <= row.networkAllowance * 3n)
      for (const [at, { networkFee }] of all.entries())
        assert.isTrue(at === 0 || networkFee > (all[at - 1]?.networkFee ?? 0n))
      yield* mine(6)
      yield* steps(2)
      assert.strictEqual(yield* standing(row), "settled")
    }
  )
})

describe("A payout that cannot be replaced", () => {
  it.effect(
    "replacement: the log has one warning if the fee of a payout cannot be raised any further",
    () => {
      const warnings: Array<unknown> = []
      const logger = Logger.make(({ logLevel, message }) => {
        if (logLevel === "Warn") warnings.push(message)
      })
      const { sky, change } = weather()
      return run({ isPending: true, change }, function* () {
        const { row } = yield* payout
        yield* step
        yield* halfAnHour
        sky.rate = 50
        yield* Effect.forEach([1, 2, 3], () => halfAnHour).pipe(Effect.provide(Logger.layer([logger])))
        assert.strictEqual((yield* candidates(row)).length, 2)
        assert.lengthOf(warnings, 1)
        assert.include(JSON.stringify(warnings), row.id)
      })
    }
  )
})

describe("A settled payout", () => {
  const look = Effect.flatMap(SettledPayouts, ({ look }) => look)

  scenario(
    "C45: replacement: a settled payout that a reorganization removed is rebroadcast as the same bytes until it is final",
    weather,
    function* ({ sky, sent }) {
      const { row } = yield* payout
      yield* step
      yield* mine(1)
      yield* steps(2)
      assert.strictEqual(yield* standing(row), "settled")
      const { reorg } = yield* Sandbox
      yield* look
      assert.strictEqual(sent.length, 1)
      yield* reorg(1)
      yield* look
      assert.deepStrictEqual(sent, [sent[0], sent[0]])
      yield* mine(99)
      yield* look
      sky.deaf = () => true
      assert.strictEqual((yield* (yield* Records).settledPayouts(null, 10)).length, 1)
      yield* mine(1)
      yield* look
      assert.deepStrictEqual(yield* (yield* Records).settledPayouts(null, 10), [])
      assert.strictEqual(sent.length, 2)
    }
  )
})
