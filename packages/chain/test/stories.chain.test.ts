import { assert, it } from "@effect/vitest"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { ChainDeposits } from "@satrail/core/receiving/ChainDeposits"
import { Records } from "@satrail/core/service/Records"
import type { Candidate, Withdrawal } from "@satrail/core/sending/Withdrawal"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer } from "effect"
import { Outside } from "./Outside.ts"
import * as OutsideLayer from "./Outside.ts"
import {
  address,
  audit,
  balance,
  company,
  FeeRate,
  funded,
  mine,
  mineAndWork,
  now,
  received,
  sats,
  service,
  statuses,
  withdraw,
  work
} from "./Story.ts"

const chain = Layer.provideMerge(service(), OutsideLayer.layer)
// Payouts confirmed within the same millisecond are sent when that millisecond ends, together with any others
// due by then.
const chainTogether = Layer.provideMerge(service({ payoutWindowMillis: 1 }), OutsideLayer.layer)

/** An external address of each payable type. Tests never spend from it. */
const outsideAddress = (kind: BitcoinAddress.Kind, fill: number) => {
  const bytes = new Uint8Array(kind === "p2wsh" || kind === "p2tr" ? 32 : 20).fill(fill)
  // The generator's x-coordinate, which is on the curve.
  const x = Buffer.from("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798", "hex")
  return BitcoinAddress.fromPayload(kind, kind === "p2tr" ? x : bytes, "regtest") ?? assert.fail(kind)
}

Real.onChain("On a real chain", () => {
  it.layer(chain, { excludeTestServices: true })("deposits", (it) => {
    for (const type of BitcoinAddress.AddressType.literals) {
      it.effect(
        `deposits: a deposit to a ${type} address is pending when seen, and credited at the required depth`,
        () =>
          Effect.gen(function* () {
            const { id } = yield* company
            const to = yield* address(id, type)
            yield* (yield* Outside).send([{ address: to, amount: sats(100_000) }])
            yield* work
            assert.deepStrictEqual(
              [yield* statuses(id), yield* balance(id)],
              [["pending"], { posted: 0, held: 0 }]
            )
            yield* mineAndWork(1)
            assert.deepStrictEqual(yield* balance(id), { posted: 0, held: 0 })
            yield* mineAndWork(1)
            assert.deepStrictEqual(
              [yield* statuses(id), yield* balance(id)],
              [["settled"], { posted: 100_000, held: 0 }]
            )
            yield* audit
          })
      )
    }

    // A reorganization of one block can only reverse a deposit credited at one confirmation.
    for (const [depth, amount] of [
      [1, 10_000],
      [2, 50_000],
      [6, 50_000]
    ] as const) {
      it.effect(
        `C45: deposits: a reorganization ${depth} deep reverses deposits, which are credited again once they are mined`,
        () =>
          Effect.gen(function* () {
            const { id } = yield* company
            yield* funded(id, amount)
            if (depth > 2) yield* mineAndWork(depth - 2)
            assert.deepStrictEqual(yield* balance(id), { posted: amount, held: 0 })
            yield* (yield* Outside).reorg(depth)
            yield* work
            assert.deepStrictEqual(
              [yield* statuses(id), yield* balance(id)],
              [["pending"], { posted: 0, held: 0 }]
            )
            if (depth > 1) {
              yield* mineAndWork(1)
              assert.deepStrictEqual(yield* balance(id), { posted: 0, held: 0 })
            }
            yield* mineAndWork(1)
            assert.deepStrictEqual(
              [yield* statuses(id), yield* balance(id)],
              [["settled"], { posted: amount, held: 0 }]
            )
            yield* audit
          })
      )

      it.effect(
        `C45: deposits: a deposit double-spent in a reorganization ${depth} blocks deep fails and leaves no balance`,
        () =>
          Effect.gen(function* () {
            const { id } = yield* company
            const txId = yield* funded(id, amount)
            if (depth > 2) yield* mineAndWork(depth - 2)
            const { doubleSpend, reorg } = yield* Outside
            yield* reorg(depth)
            yield* doubleSpend(txId)
            yield* mineAndWork(depth)
            assert.deepStrictEqual(
              [yield* statuses(id), yield* balance(id)],
              [["failed"], { posted: 0, held: 0 }]
            )
            yield* audit
          })
      )
    }

    it.effect(
      "C45: deposits: of two payments that spend one coin, only the one in the mempool is pending, before any block",
      () =>
        Effect.gen(function* () {
          const { id } = yield* company
          const [to, other] = [yield* address(id), yield* address(id)]
          const { send, replace, doubleSpend } = yield* Outside
          const pending = Effect.gen(function* () {
            yield* work
            const found = yield* (yield* Records).transactions(id, {
              limit: 100,
              type: "deposit",
              status: "pending"
            })
            return found.map(({ amount }) => amount)
          })
          const txId = yield* send([{ address: to, amount: sats(60_000) }])
          assert.deepStrictEqual(yield* pending, [sats(60_000)])
          const less = yield* replace(txId, { address: to, amount: sats(30_000) })
          assert.deepStrictEqual(yield* pending, [sats(30_000)])
          yield* doubleSpend(less)
          assert.deepStrictEqual(yield* pending, [])
          // The same amount, to the same address and to another one.
          const again = yield* send([{ address: to, amount: sats(40_000) }])
          assert.deepStrictEqual(yield* pending, [sats(40_000)])
          const same = yield* replace(again, { address: to, amount: sats(40_000) })
          assert.deepStrictEqual(yield* pending, [sats(40_000)])
          yield* replace(same, { address: other, amount: sats(40_000) }).pipe(Effect.flip)
          yield* mineAndWork(6)
          assert.deepStrictEqual([yield* pending, yield* balance(id)], [[], { posted: 40_000, held: 0 }])
          yield* audit
        })
    )

    it.effect(
      "C44: deposits: every deposit in 200 unread blocks is found, and the blocks are read a page at a time",
      () =>
        Effect.gen(function* () {
          const { id } = yield* company
          const to = [yield* address(id), yield* address(id), yield* address(id)]
          const { send } = yield* Outside
          for (const [n, blocks] of [100, 99, 1].entries()) {
            yield* send([{ address: to[n] ?? "", amount: sats(30_000) }])
            yield* mine(blocks)
          }
          const { follow } = yield* ChainDeposits
          const left: Array<number> = []
          for (let blocksLeft = 1; blocksLeft > 0; left.push(blocksLeft)) blocksLeft = yield* follow()
          assert.deepStrictEqual(left, [180, 160, 140, 120, 100, 80, 60, 40, 20, 0])
          assert.deepStrictEqual(yield* balance(id), { posted: 60_000, held: 0 })
          yield* mineAndWork(1)
          assert.deepStrictEqual(yield* balance(id), { posted: 90_000, held: 0 })
          yield* audit
        })
    )
  })

  it.layer(chain, { excludeTestServices: true })("payouts", (it) => {
    for (const [n, kind] of (["p2pkh", "p2sh", "p2wpkh", "p2wsh", "p2tr"] as const).entries()) {
      it.effect(`payouts: a payout to ${kind} arrives once, with the exact amount`, () =>
        Effect.gen(function* () {
          const { id } = yield* company
          yield* funded(id, 200_000, BitcoinAddress.AddressType.literals[n % 3])
          const to = outsideAddress(kind, 10 + n)
          const row = yield* withdraw(id, to.address, 50_000)
          yield* work
          assert.strictEqual((yield* now(row)).status, "pending")
          yield* mineAndWork(1)
          yield* work
          const { status, chainTxId } = yield* now(row)
          assert.strictEqual(status, "settled")
          assert.isNotNull(chainTxId)
          assert.deepStrictEqual(yield* received(to.scriptPubKey), [50_000])
          yield* audit
        })
      )
    }

    it.effect(
      "payouts: a payout that the wallet's coins do not cover is reported as waiting, and is sent when coins arrive",
      () =>
        Effect.gen(function* () {
          const { id } = yield* company
          yield* funded(id, 90_000_000)
          // The first payout spends all coins, so the wallet has none for the second.
          const all = outsideAddress("p2wsh", 92)
          const first = yield* withdraw(id, all.address, 60_000_000)
          const second = yield* withdraw(id, outsideAddress("p2wsh", 93).address, 25_000_000)
          yield* work
          for (const row of [first, second]) assert.strictEqual((yield* now(row)).status, "pending")
          for (let i = 0; i < 4; i++) yield* mineAndWork(1)
          for (const row of [first, second]) assert.strictEqual((yield* now(row)).status, "settled")
          yield* audit
        })
    )
  })

  it.layer(chainTogether, { excludeTestServices: true })("payouts together", (it) => {
    /** Funds two companies, and confirms payouts of each in turn to all kinds of addresses. */
    const together = Effect.fnUntraced(function* (
      amounts: ReadonlyArray<number>,
      funds: number,
      fill: number
    ) {
      const companies = [(yield* company).id, (yield* company).id]
      for (const id of companies) yield* funded(id, funds)
      const payouts = yield* Effect.forEach(amounts, (amount, n) =>
        Effect.gen(function* () {
          const kind = BitcoinAddress.Kind.literals[n % 5] ?? "p2tr"
          const { address, scriptPubKey } = outsideAddress(kind, fill + n)
          return {
            scriptPubKey,
            amount,
            row: yield* withdraw(companies[n % 2] ?? CompanyId.operator, address, amount)
          }
        })
      )
      yield* Effect.sleep(2)
      yield* work
      return payouts
    })

    /** Confirmed amounts of these payouts. Each test uses its own amounts. */
    const stands = Effect.fnUntraced(function* (payouts: Effect.Success<ReturnType<typeof together>>) {
      const amounts = new Set(payouts.map(({ amount }) => amount))
      const scripts = new Set(payouts.map(({ scriptPubKey }) => scriptPubKey))
      return (yield* received(...scripts)).filter((amount) => amounts.has(amount)).toSorted((a, b) => a - b)
    })

    const rowsOf = (payouts: Effect.Success<ReturnType<typeof together>>) =>
      Effect.forEach(payouts, ({ row }) => now(row))

    /** All transactions signed for these payouts. They are stored with the payout that has the lowest id. */
    const signedFor = Effect.fnUntraced(function* (payouts: Effect.Success<ReturnType<typeof together>>) {
      const [leader] = payouts.map(({ row }) => row).toSorted((a, b) => (a.id < b.id ? -1 : 1))
      return leader === undefined ? [] : yield* (yield* Records).candidates(leader.companyId, leader.id)
    })

    /**
     * Asserts that each payout settled with this transaction and its share of the fee, and is on the chain
     * once.
     */
    const paid = Effect.fnUntraced(function* (
      payouts: Effect.Success<ReturnType<typeof together>>,
      by: Candidate | undefined
    ) {
      const rows = yield* rowsOf(payouts)
      assert.deepStrictEqual(
        new Set(rows.map(({ status, chainTxId }) => `${status} ${chainTxId}`)),
        new Set([`settled ${by?.txId}`])
      )
      assert.strictEqual(Msat.sum(...rows.map(({ networkFee }) => networkFee ?? Msat.zero)), by?.networkFee)
      assert.deepStrictEqual(
        yield* stands(payouts),
        payouts.map(({ amount }) => amount)
      )
    })

    const networkFees = Effect.gen(function* () {
      return (yield* (yield* Records).trialBalance).network_fees
    })

    it.effect(
      "batch: 20 payouts to all kinds of addresses share one transaction and settle with its actual cost",
      () =>
        Effect.gen(function* () {
          const before = yield* networkFees
          const amounts = Array.from({ length: 20 }, (_, n) => 20_000 + n)
          const payouts = yield* together(amounts, 1_000_000, 100)
          const [signed, ...others] = yield* signedFor(payouts)
          assert.deepStrictEqual(others, [])
          yield* mineAndWork(1)
          yield* work
          yield* paid(payouts, signed)
          // At most a third of the cost of 20 separate payouts.
          assert.isBelow(Number(signed?.networkFee) / 1000, 20 * 100)
          const held = Msat.sum(...payouts.map(({ row }) => row.networkAllowance))
          assert.strictEqual((yield* networkFees) - before, held - (signed?.networkFee ?? 0n))
          yield* audit
        })
    )

    it.effect("batch: a batch that waits too long is replaced as a whole, and the replacement is mined", () =>
      Effect.gen(function* () {
        const payouts = yield* together([50_000, 50_001, 50_002], 200_000, 140)
        const weather = yield* FeeRate
        weather.rate = 9
        yield* work
        weather.rate = 2
        const signed = yield* signedFor(payouts)
        assert.strictEqual(signed.length, 2)
        yield* mineAndWork(6)
        yield* work
        yield* paid(payouts, signed[1])
        yield* audit
      })
    )

    for (const [n, count] of [1, 3].entries()) {
      it.effect(
        `batch: a replaced batch of ${count} settles with its original transaction if that transaction is mined instead`,
        () =>
          Effect.gen(function* () {
            const payouts = yield* together(
              Array.from({ length: count }, (_, at) => 60_000 + 10 * n + at),
              200_000,
              150 + 5 * n
            )
            const weather = yield* FeeRate
            weather.rate = 9
            yield* work
            weather.rate = 2
            const signed = yield* signedFor(payouts)
            assert.strictEqual(signed.length, 2)
            const { transaction } = yield* ChainSource
            assert.deepStrictEqual(yield* transaction(signed[1]?.txId ?? TxId.make("")), { _tag: "mempool" })
            yield* (yield* Outside).mineOne(signed[0]?.rawTx ?? "")
            assert.strictEqual((yield* transaction(signed[0]?.txId ?? TxId.make("")))._tag, "mined")
            assert.deepStrictEqual(yield* transaction(signed[1]?.txId ?? TxId.make("")), { _tag: "gone" })
            yield* work
            for (const { status } of yield* rowsOf(payouts)) assert.strictEqual(status, "pending")
            yield* mineAndWork(5)
            yield* work
            yield* paid(payouts, signed[0])
            yield* audit
          })
      )
    }

    it.effect(
      "batch: the next batch spends the previous batch's unconfirmed change, but only one level deep",
      () =>
        Effect.gen(function* () {
          const { id } = yield* company
          yield* funded(id, 30_000_000)
          const { candidates } = yield* Records
          const windows: Array<ReadonlyArray<Withdrawal>> = []
          for (const n of [0, 1, 2]) {
            const rows = yield* Effect.forEach([0, 1], (at) =>
              withdraw(id, outsideAddress("p2wsh", 180 + 2 * n + at).address, 4_000_000 + 2 * n + at)
            )
            yield* Effect.sleep(2)
            yield* work
            windows.push(rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
          }
          const isDeep = yield* Effect.forEach(windows, ([leader]) =>
            leader === undefined
              ? assert.fail("no payout leads the batch")
              : Effect.map(candidates(id, leader.id), (all) => all.map((one) => one.isDeep))
          )
          assert.deepStrictEqual(isDeep, [[false], [true], []])
          for (let i = 0; i < 3; i++) yield* Effect.andThen(mineAndWork(1), work)
          const rows = yield* Effect.forEach(windows.flat(), now)
          assert.deepStrictEqual(new Set(rows.map(({ status }) => status)), new Set(["settled"]))
          assert.strictEqual(new Set(rows.map(({ chainTxId }) => chainTxId)).size, 3)
          const scripts = Array.from({ length: 6 }, (_, n) => outsideAddress("p2wsh", 180 + n).scriptPubKey)
          assert.deepStrictEqual(
            (yield* received(...scripts)).toSorted((a, b) => a - b),
            Array.from({ length: 6 }, (_, n) => 4_000_000 + n)
          )
          yield* audit
        })
    )

    it.effect(
      "C45: batch: a batch is sent again when a reorganization removes its block, even if the batch has settled",
      () =>
        Effect.gen(function* () {
          const payouts = yield* together([70_000, 70_001, 70_002], 200_000, 170)
          yield* mineAndWork(1)
          yield* work
          const [signed] = yield* signedFor(payouts)
          yield* paid(payouts, signed)
          yield* (yield* Outside).reorg(1)
          assert.deepStrictEqual(yield* stands(payouts), [])
          yield* work
          yield* mineAndWork(1)
          yield* paid(payouts, signed)
          yield* audit
        })
    )
  })
})
