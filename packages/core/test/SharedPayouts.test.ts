import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Arbitrary, Clock, Context, Deferred, Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Journal, StoreUnavailable } from "../src/ledger/Journal.ts"
import { Tasks } from "../src/ledger/Tasks.ts"
import { ChainWallet } from "../src/nodes/ChainWallet.ts"
import { Signer, SignerUnavailable } from "../src/nodes/Signer.ts"
import { Records } from "../src/service/Records.ts"
import { PaymentWorker } from "../src/sending/PaymentWorker.ts"
import * as Payout from "../src/sending/Payout.ts"
import { SendingReads } from "../src/sending/SendingReads.ts"
import { SettledPayouts } from "../src/sending/SettledPayouts.ts"
import * as Withdrawal from "../src/sending/Withdrawal.ts"
import { settings as usual } from "./Rows.ts"
import {
  accounts,
  companyWith,
  confirm,
  has,
  mine,
  now,
  outputsOf,
  outside,
  type Ports,
  replace,
  run,
  scenario,
  standing,
  start,
  step,
  steps,
  weather
} from "./World.ts"

type Row = Withdrawal.Withdrawal

const settings = { ...usual, payoutWindowMillis: 60_000 }

/** Returns the outputs at the payee's address that are in the mempool or in a block. */
const received = (row: Row) =>
  Effect.map(outputsOf(row), (outputs) => outputs.filter(([placement]) => placement !== "gone"))

const payout = Effect.fnUntraced(function* (payer: Parameters<typeof confirm>[0], sats: number) {
  return yield* confirm(payer, (yield* outside({ type: "chain_address" })).destination, sats)
})

/** Confirms three payouts by two companies in one window. */
const three = Effect.gen(function* () {
  const [acme, globex] = [yield* companyWith(200_000), yield* companyWith(100_000)]
  const rows = [yield* payout(acme, 20_000), yield* payout(globex, 30_000), yield* payout(acme, 40_000)]
  return { acme, globex, rows }
})

const afterWindow = TestClock.adjust("60 seconds")

const transactionsOf = (rows: ReadonlyArray<Row>) =>
  Effect.map(
    Effect.forEach(rows, now),
    (all) => new Set(all.flatMap(({ chainTxId }) => chainTxId ?? [])).size
  )

const standings = (rows: ReadonlyArray<Row>) => Effect.forEach(rows, standing)

/** Returns the leading payout, the transactions signed for it, and its followers. */
const led = Effect.fnUntraced(function* (rows: ReadonlyArray<Row>) {
  const { candidates, followers } = yield* Records
  for (const row of rows) {
    const signed = yield* candidates(row.companyId, row.id)
    if (signed.length > 0) return { leader: row, signed, followers: yield* followers(row.id) }
  }
  return assert.fail("nobody leads")
})

const halfAnHour = steps(31, 60)

/**
 * Asserts that each payout settled with one output, and that the payouts' shares add up to the actual mining
 * fee.
 */
const paidBy = Effect.fnUntraced(function* (
  rows: ReadonlyArray<Row>,
  winner: Withdrawal.Candidate | undefined
) {
  const settled = yield* Effect.forEach(rows, now)
  for (const row of settled) {
    assert.deepStrictEqual([row.status, row.chainTxId], ["settled", winner?.txId])
    assert.deepStrictEqual(yield* received(row), [["mined", Number(row.amount) / 1000]])
  }
  assert.strictEqual(
    Msat.sum(...settled.map(({ networkFee }) => networkFee ?? Msat.zero)),
    winner?.networkFee
  )
})

const upTo = (maximum: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum })))

describe("Shares of a fee", () => {
  it("batch: shares are proportional to the held mining fees and rounded down; the last share gets the remainder", () => {
    const shares = (fee: number, ...allowances: ReadonlyArray<number>) =>
      Payout.shares(
        Msat.make(BigInt(fee)),
        allowances.map((allowance) => Msat.make(BigInt(allowance)))
      ).map(Number)
    assert.deepStrictEqual(shares(1000, 1, 1, 1), [333, 333, 334])
    assert.deepStrictEqual(shares(600, 500, 250, 250), [300, 150, 150])
    assert.deepStrictEqual(shares(600, 500), [600])
    assert.deepStrictEqual(shares(7, 0, 0), [3, 4])
    assert.deepStrictEqual(shares(7, 0, 9), [0, 7])
  })

  it.prop(
    "batch: shares add up to the fee, to the msat; no share exceeds the fee held for it unless the whole fee exceeds the total held",
    { fee: upTo(1_000_000), allowances: Arbitrary.array(upTo(400_000), { minLength: 1, maxLength: 100 }) },
    ({ fee, allowances }) => {
      const held = allowances.map((allowance) => Msat.make(BigInt(allowance)))
      const shares = Payout.shares(Msat.make(BigInt(fee)), held)
      assert.strictEqual(Msat.sum(...shares), BigInt(fee))
      const isEnough = Msat.sum(...held) >= BigInt(fee)
      for (const [n, share] of shares.entries())
        assert.isTrue(share >= 0n && (!isEnough || share <= (held[n] ?? 0n)))
    }
  )
})

describe("A window", () => {
  it("batch: a window ends at the same time for all payouts confirmed in it, and no payout waits longer than the window's length", () => {
    const due = (at: number) => Withdrawal.payoutDueAtMillis(at, 60_000)
    assert.deepStrictEqual([due(0), due(1), due(59_999), due(60_000)], [60_000, 60_000, 60_000, 120_000])
    assert.strictEqual(Withdrawal.payoutDueAtMillis(12_345, 0), 12_345)
  })
})

describe("Payouts in one window", () => {
  scenario(
    "batch: payouts of several companies share one transaction, and each settles with its own output and share",
    { settings },
    function* () {
      const { acme, globex, rows } = yield* three
      yield* step
      assert.strictEqual(yield* transactionsOf(rows), 0)
      yield* afterWindow
      yield* step
      const { leader, signed, followers } = yield* led(rows)
      assert.strictEqual(leader.id, rows.map(({ id }) => id).toSorted()[0])
      assert.deepStrictEqual([signed.length, followers.length, yield* transactionsOf(rows)], [1, 2, 1])
      for (const row of rows)
        assert.deepStrictEqual(yield* received(row), [["mempool", Number(row.amount) / 1000]])
      yield* mine(1)
      yield* steps(2)
      yield* paidBy(rows, signed[0])
      const fee = Number(signed[0]?.networkFee) / 1000
      // Less than half the cost of three separate payouts.
      assert.isBelow(fee, 750)
      assert.deepStrictEqual(yield* has(acme), {
        posted: 200_000 - 20_000 - 40_000 - 1000 - 120 - 140,
        held: 0
      })
      assert.deepStrictEqual(yield* has(globex), { posted: 100_000 - 30_000 - 500 - 130, held: 0 })
      assert.deepInclude(yield* accounts, {
        chain: 90_000 + fee,
        network_fees: 1500 - fee,
        service_fees: 390
      })
    }
  )

  scenario(
    "batch: without a window, each payout is sent immediately, in its own transaction",
    { settings: { ...settings, payoutWindowMillis: 0 } },
    function* () {
      const { rows } = yield* three
      yield* step
      assert.strictEqual(yield* transactionsOf(rows), 3)
      yield* mine(1)
      yield* steps(2)
      for (const row of rows)
        assert.deepStrictEqual(yield* received(row), [["mined", Number(row.amount) / 1000]])
    }
  )

  scenario(
    "batch: payouts that do not fit in one transaction are split across as many transactions as needed",
    { settings: { ...settings, payoutOutputs: 2 } },
    function* () {
      const payer = yield* companyWith(200_000)
      const rows = yield* Effect.forEach([1, 2, 3, 4, 5], (n) => payout(payer, n * 1000))
      yield* afterWindow
      yield* step
      assert.strictEqual(yield* transactionsOf(rows), 3)
      yield* mine(1)
      yield* steps(2)
      for (const row of rows)
        assert.deepStrictEqual(yield* received(row), [["mined", Number(row.amount) / 1000]])
    }
  )

  scenario(
    "C19: batch: if several workers batch payouts in different ways, each payout is sent once",
    { settings },
    function* () {
      const ports = yield* Effect.context<Ports>()
      const workers = yield* Effect.forEach([1, 2, 3], () =>
        Effect.map(
          start(ports, { ...settings, payoutOutputs: 3 }),
          (process) => Context.get(process, PaymentWorker).step
        )
      )
      const payers = [yield* companyWith(500_000), yield* companyWith(500_000)]
      const rows = yield* Effect.forEach(Array.from({ length: 20 }), (_, n) =>
        payout(payers[n % 2] ?? assert.fail(), 10_000 + n)
      )
      yield* afterWindow
      for (let i = 0; i < 6; i++) {
        yield* Effect.all(workers, { concurrency: "unbounded" })
        yield* TestClock.adjust("15 seconds")
      }
      yield* mine(1)
      yield* steps(3)
      for (const row of rows) {
        assert.strictEqual(yield* standing(row), "settled")
        assert.deepStrictEqual(yield* received(row), [["mined", Number(row.amount) / 1000]])
      }
    }
  )

  it.effect(
    "batch: a payout for which the wallet has too few coins waits without delaying later payouts",
    () => {
      const purse = { only: "" }
      const change = replace(ChainWallet, (wallet) => ({
        build: (ask) =>
          wallet.build({
            ...ask,
            free: (outpoints) =>
              Effect.map(
                ask.free(outpoints),
                (free) => new Set([...free].filter((one) => one.startsWith(purse.only)))
              )
          })
      }))
      return run({ isPending: true, settings, change }, function* () {
        const { newAddress } = yield* ChainWallet
        const { send } = yield* Sandbox
        purse.only = yield* send({
          address: (yield* newAddress("taproot")).address,
          amount: Msat.fromSats(60_000)
        })
        yield* mine(1)
        const payer = yield* companyWith(500_000)
        const rows = yield* Effect.forEach([10_000, 100_000, 20_000, 90_000, 15_000], (sats) =>
          payout(payer, sats)
        )
        const fits = rows.filter(({ amount }) => amount < Msat.fromSats(50_000))
        const large = rows.filter((row) => !fits.includes(row))
        yield* afterWindow
        yield* steps(4)
        assert.strictEqual(yield* transactionsOf(fits), 1)
        assert.deepStrictEqual(yield* standings(large), ["pending", "pending"])
        assert.strictEqual(yield* transactionsOf(large), 0)
        purse.only = ""
        yield* steps(1)
        assert.strictEqual(yield* transactionsOf(large), 1)
        yield* mine(1)
        yield* steps(2)
        for (const row of rows)
          assert.deepStrictEqual(yield* received(row), [["mined", Number(row.amount) / 1000]])
      })
    }
  )

  it.effect("batch: a payout that causes every batch to fail is left out and stays pending", () => {
    const broken = Msat.fromSats(30_000)
    const change = replace(ChainWallet, (wallet) => ({
      build: (ask) =>
        ask.payments.some(({ amount }) => amount === broken)
          ? Effect.die(new Error("this payout cannot be built"))
          : wallet.build(ask)
    }))
    return run({ logsErrors: true, settings, change }, function* () {
      const { globex, rows } = yield* three
      const rest = rows.filter(({ amount }) => amount !== broken)
      yield* afterWindow
      yield* step
      for (const row of rest)
        assert.deepStrictEqual(yield* received(row), [["mempool", Number(row.amount) / 1000]])
      yield* mine(1)
      yield* steps(3)
      assert.deepStrictEqual(yield* standings(rest), ["settled", "settled"])
      assert.deepStrictEqual(yield* has(globex), { posted: 100_000, held: 30_630 })
    })
  })

  it.effect(
    "C10: batch: a payout claimed by another process is left out of the batch and sent separately",
    () => {
      let signings = 0
      const change = (ports: Context.Context<Ports>) => {
        const { claim } = Context.get(ports, Tasks)
        // During signing, a process whose clock is ahead claims the first payout.
        const rival = Effect.flatMap(Clock.currentTimeMillis, (millis) =>
          claim({ kind: Withdrawal.payoutKind, nowMillis: millis + 31_000, leaseMillis: 69_000, limit: 1 })
        )
        return replace(Signer, ({ sign }) => ({
          sign: (psbt) => (signings++ === 0 ? Effect.andThen(Effect.orDie(rival), sign(psbt)) : sign(psbt))
        }))(ports)
      }
      return run({ settings, change }, function* () {
        const { rows } = yield* three
        yield* afterWindow
        yield* step
        assert.deepStrictEqual([signings, yield* transactionsOf(rows)], [1, 0])
        yield* step
        assert.deepStrictEqual([signings, yield* transactionsOf(rows)], [2, 1])
        yield* steps(3, 60)
        assert.deepStrictEqual([signings, yield* transactionsOf(rows)], [3, 2])
        yield* mine(1)
        yield* steps(2)
        for (const row of rows)
          assert.deepStrictEqual(yield* received(row), [["mined", Number(row.amount) / 1000]])
      })
    }
  )

  it.effect(
    "batch: if the signer is away, all payouts are sent together once it is back, before their claims would end",
    () => {
      let signings = 0
      const change = replace(Signer, ({ sign }) => ({
        sign: (psbt) =>
          Effect.suspend(() =>
            signings++ === 0 ? Effect.fail(new SignerUnavailable({ cause: "away" })) : sign(psbt)
          )
      }))
      return run({ logsErrors: true, settings, change }, function* () {
        const { rows } = yield* three
        yield* afterWindow
        yield* step
        assert.deepStrictEqual([signings, yield* transactionsOf(rows)], [1, 0])
        yield* steps(2)
        assert.deepStrictEqual([signings, yield* transactionsOf(rows)], [2, 1])
        for (const row of rows)
          assert.deepStrictEqual(yield* received(row), [["mempool", Number(row.amount) / 1000]])
        yield* mine(1)
        yield* steps(3)
        assert.deepStrictEqual(yield* standings(rows), ["settled", "settled", "settled"])
      })
    }
  )
})

describe("Unconfirmed transactions with several payouts", () => {
  it.effect(
    "C45: batch: once one of its payouts has settled, an unconfirmed transaction is not replaced",
    () => {
      const { sky, change } = weather()
      const held = { leader: "" }
      let signatures = 0
      const counted = replace(Signer, (signer) => ({
        sign: (psbt) =>
          Effect.suspend(() => {
            signatures++
            return signer.sign(psbt)
          })
      }))
      const away = replace(Journal, (journal) => ({
        commit: (change) =>
          change._tag === "WithdrawalSettled" && change.id === held.leader
            ? Effect.fail(new StoreUnavailable({ operation: "test", cause: "away" }))
            : journal.commit(change)
      }))
      return run(
        { logsErrors: true, settings, change: (ports) => counted(away(change(ports))) },
        function* () {
          const { rows } = yield* three
          yield* afterWindow
          yield* step
          const { leader, signed } = yield* led(rows)
          held.leader = leader.id
          yield* mine(1)
          yield* steps(2)
          assert.deepStrictEqual((yield* standings(rows)).toSorted(), ["pending", "settled", "settled"])
          // A reorganization puts the transaction back into the mempool.
          yield* (yield* Sandbox).reorg(1)
          sky.rate = 14
          yield* halfAnHour
          assert.deepStrictEqual((yield* led(rows)).signed, signed)
          assert.strictEqual(signatures, 1, "the signer is not asked either")
          held.leader = ""
          yield* mine(1)
          yield* steps(3)
          yield* paidBy(rows, signed[0])
        }
      )
    }
  )

  scenario(
    "batch: an unconfirmed transaction is replaced for all its payouts; the operator bears the cost beyond the held fees",
    () => ({ logsErrors: true, settings, ...weather() }),
    function* ({ sky }) {
      const { rows } = yield* three
      yield* afterWindow
      yield* step
      sky.rate = 14
      yield* halfAnHour
      const { signed } = yield* led(rows)
      assert.strictEqual(signed.length, 2)
      const fee = Number(signed[1]?.networkFee) / 1000
      assert.isTrue(fee > 1500 && fee <= 4500)
      for (const row of rows) {
        const { chainTxId, networkFee } = yield* now(row)
        assert.strictEqual(chainTxId, signed[1]?.txId)
        assert.isTrue(
          networkFee !== null && networkFee > row.networkAllowance && networkFee <= row.networkAllowance * 3n
        )
        assert.deepStrictEqual(yield* received(row), [["mempool", Number(row.amount) / 1000]])
      }
      yield* mine(5)
      yield* steps(2)
      assert.deepStrictEqual(yield* standings(rows), ["pending", "pending", "pending"])
      yield* mine(1)
      yield* steps(2)
      yield* paidBy(rows, signed[1])
      assert.deepInclude(yield* accounts, { chain: 90_000 + fee, service_fees: 390, loss: 1500 - fee })
    }
  )

  scenario(
    "batch: if the original transaction is mined instead of its replacement, all payouts settle with the original transaction and its fee",
    () => ({ settings, ...weather() }),
    function* ({ sky }) {
      const { rows } = yield* three
      yield* afterWindow
      yield* step
      const [first] = (yield* led(rows)).signed
      sky.rate = 4
      sky.deaf = (rawTx) => rawTx !== first?.rawTx
      yield* halfAnHour
      assert.strictEqual((yield* led(rows)).signed.length, 2)
      yield* mine(6)
      yield* steps(2)
      yield* paidBy(rows, first)
    }
  )

  scenario(
    "C45: batch: a shared transaction is rebroadcast if a reorganization removes its block, whether its payouts have settled or not",
    () => ({ settings: { ...settings, payoutConfirmations: 2 }, ...weather() }),
    function* ({ sent }) {
      const { rows } = yield* three
      yield* afterWindow
      yield* step
      const { reorg } = yield* Sandbox
      yield* mine(1)
      yield* steps(1)
      yield* reorg(1)
      yield* steps(1)
      assert.deepStrictEqual(yield* standings(rows), ["pending", "pending", "pending"])
      yield* mine(2)
      yield* steps(1)
      const { signed } = yield* led(rows)
      yield* paidBy(rows, signed[0])
      yield* reorg(2)
      yield* Effect.flatMap(SettledPayouts, ({ look }) => look)
      assert.strictEqual(new Set(sent).size, 1)
      yield* mine(1)
      yield* paidBy(rows, signed[0])
    }
  )

  it.effect(
    "C45: batch: a shared transaction is not replaced once one of its payouts has settled, even if a reorganization removes its block",
    () => {
      const { sky, change: raining } = weather()
      let away = true
      /** A store that commits the followers' settlements, but not the leader's. */
      const change = (ports: Context.Context<Ports>) =>
        replace(Journal, (journal) => ({
          commit: (change) =>
            away && change._tag === "WithdrawalSettled" && change.id === change.fence?.taskId
              ? Effect.fail(new StoreUnavailable({ operation: "commit", cause: "away" }))
              : journal.commit(change)
        }))(raining(ports))
      return run({ logsErrors: true, settings, change }, function* () {
        const { rows } = yield* three
        yield* afterWindow
        yield* step
        yield* mine(1)
        yield* steps(2)
        assert.deepStrictEqual((yield* standings(rows)).toSorted(), ["pending", "settled", "settled"])
        yield* (yield* Sandbox).reorg(1)
        sky.rate = 4
        yield* halfAnHour
        away = false
        const { signed } = yield* led(rows)
        assert.strictEqual(signed.length, 1)
        yield* mine(1)
        yield* steps(2)
        yield* paidBy(rows, signed[0])
      })
    }
  )

  it.effect(
    "C10: batch: a worker that slept past its claim does not send a payout that another worker has batched",
    () => {
      return run({ settings }, function* () {
        const ports = yield* Effect.context<Ports>()
        const wakes = yield* Deferred.make<void>()
        const sleepy = yield* start(
          replace(SendingReads, (records) => ({
            withdrawal: (...ask) => Effect.andThen(Deferred.await(wakes), records.withdrawal(...ask))
          }))(ports),
          settings
        )
        const { rows } = yield* three
        yield* afterWindow
        const sleeping = yield* Effect.forkChild(Context.get(sleepy, PaymentWorker).step)
        yield* TestClock.adjust("121 seconds")
        yield* step
        assert.strictEqual(yield* transactionsOf(rows), 1)
        yield* Deferred.succeed(wakes, undefined)
        yield* Fiber.join(sleeping)
        yield* mine(1)
        yield* steps(3, 60)
        assert.deepStrictEqual(yield* standings(rows), ["settled", "settled", "settled"])
      })
    }
  )
})
