import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as TxId from "@satrail/bitcoin/TxId"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Context, Deferred, Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import type { Company } from "../src/accounts/Company.ts"
import * as Id from "../src/base/Id.ts"
import type { Fence } from "../src/ledger/Change.ts"
import { Journal, StoreUnavailable } from "../src/ledger/Journal.ts"
import { LedgerReads } from "../src/ledger/LedgerReads.ts"
import { ChainSource, ChainUnavailable } from "../src/nodes/ChainSource.ts"
import { ChainDeposits } from "../src/receiving/ChainDeposits.ts"
import * as Deposit from "../src/receiving/Deposit.ts"
import { feeRateBlocks } from "../src/receiving/FeeRates.ts"
import { ReceivingReads } from "../src/receiving/ReceivingReads.ts"
import { Records } from "../src/service/Records.ts"
import {
  accounts,
  company,
  confirm,
  follow,
  has,
  lightningAddress,
  mine,
  onChainAddress,
  outside,
  type Ports,
  replace,
  run,
  scenario,
  start,
  step,
  steps,
  weather,
  unheld
} from "./World.ts"

const control = Sandbox
const send = (address: string, sats: number) =>
  Effect.flatMap(control, (sandbox) => sandbox.send({ address, amount: Msat.fromSats(sats) }))
const reorg = (depth: number) => Effect.flatMap(control, (sandbox) => sandbox.reorg(depth))
const doubleSpend = (txId: TxId.TxId) => Effect.flatMap(control, (sandbox) => sandbox.doubleSpend(txId))

/** A company with an address, and a pending payment of this many sats to that address. */
const paid = Effect.fnUntraced(function* (sats: number) {
  const row = yield* company()
  const { address } = yield* onChainAddress(row)
  return { row, address, txId: yield* send(address, sats) }
})

/** A company's deposits: status, amount in sats, and the part borne by the operator. */
const deposits = Effect.fnUntraced(function* ({ id }: Company) {
  const records = yield* Records
  const found = yield* records.transactions(id, { limit: 100, type: "deposit" })
  return yield* Effect.forEach(
    found,
    Effect.fnUntraced(function* (one) {
      const { status, amount, absorbed } = Option.getOrThrow(yield* records.deposit(id, one.id))
      return [status, Number(amount) / 1000, Number(absorbed) / 1000] as const
    })
  )
})

const mineAndFollow = (blocks: number) => Effect.andThen(mine(blocks), follow)
const spend = Effect.fnUntraced(function* (from: Company, sats: number) {
  const to = yield* company()
  const { handle, domain } = yield* lightningAddress(to)
  yield* confirm(from, `${handle}@${domain}`, sats)
  yield* step
  return to
})

describe("On-chain deposits", () => {
  for (const [sats, needed] of [
    [1_000_000, 2],
    [1_000_001, 3],
    [50_000_000, 3],
    [50_000_001, 6]
  ] as const) {
    scenario(
      `C46: deposits: a deposit of ${sats} sats is pending when seen, and credited at exactly ${needed} confirmations`,
      function* () {
        const { row } = yield* paid(sats)
        for (let i = 0; i < 3; i++) yield* follow // an unconfirmed deposit stays pending, however often it is checked
        assert.deepStrictEqual(yield* deposits(row), [["pending", sats, 0]])
        for (let depth = 1; depth < needed; depth++) {
          yield* mineAndFollow(1)
          yield* follow
          assert.deepStrictEqual(
            [yield* deposits(row), yield* has(row)],
            [[["pending", sats, 0]], { posted: 0, held: 0 }],
            `at ${depth}`
          )
        }
        yield* mineAndFollow(1)
        assert.deepStrictEqual(
          [yield* deposits(row), yield* has(row)],
          [[["settled", sats, 0]], { posted: sats, held: 0 }]
        )
        yield* mineAndFollow(10)
        assert.deepStrictEqual(yield* has(row), { posted: sats, held: 0 })
      }
    )
  }

  scenario(
    "C46: deposits: the outputs of one transaction need the confirmations required for their sum, so splitting a large payment does not help",
    function* () {
      const [one, other] = [yield* company(), yield* company()]
      const to = yield* Effect.forEach([one, other, one], (row) =>
        Effect.map(onChainAddress(row), ({ address }) => ({ address, amount: Msat.fromSats(400_000) }))
      )
      yield* (yield* control).sendMany(to)
      yield* mineAndFollow(2)
      assert.deepStrictEqual([yield* has(one), yield* has(other)], [unheld(0), unheld(0)])
      yield* mineAndFollow(1)
      assert.deepStrictEqual([yield* has(one), yield* has(other)], [unheld(800_000), unheld(400_000)])
    }
  )

  scenario(
    "C46: deposits: several deposits of a company in one block need the confirmations required for their sum",
    function* () {
      const row = yield* company()
      const { address } = yield* onChainAddress(row)
      for (let n = 0; n < 51; n++) yield* send(address, 999_999)
      yield* follow
      for (let depth = 1; depth < 6; depth++) {
        yield* mineAndFollow(1)
        assert.deepStrictEqual(yield* has(row), { posted: 0, held: 0 }, `at ${depth}`)
      }
      yield* mineAndFollow(1)
      assert.deepStrictEqual(yield* has(row), { posted: 51 * 999_999, held: 0 })
    }
  )

  scenario(
    "C46: deposits: different companies' deposits need the confirmations required for their sum if they are in one block, but not across blocks",
    function* () {
      const [one, other, late] = [yield* paid(600_000), yield* paid(600_000), yield* company()]
      yield* mineAndFollow(1)
      const { address } = yield* onChainAddress(late)
      yield* send(address, 600_000)
      yield* mineAndFollow(1)
      const credited = Effect.forEach([one.row, other.row, late], (row) =>
        Effect.map(has(row), ({ posted }) => posted)
      )
      assert.deepStrictEqual(yield* credited, [0, 0, 0])
      yield* mineAndFollow(1) // three confirmations for the first two deposits, two for the third
      assert.deepStrictEqual(yield* credited, [600_000, 600_000, 600_000])
    }
  )

  scenario(
    "C46: deposits: a company's deposits in several blocks need the confirmations required for the sum of all its pending deposits in blocks",
    { isPending: true },
    function* () {
      const { row, address } = yield* paid(600_000)
      yield* mineAndFollow(1)
      yield* send(address, 600_000)
      yield* mineAndFollow(1)
      yield* send(address, 90_000_000) // from a sender who never lets it confirm
      yield* follow
      assert.deepStrictEqual(yield* has(row), { posted: 0, held: 0 })
      const weighed = yield* (yield* Records).depositsUnconfirmed(0)
      assert.deepStrictEqual([...weighed.ofCompany.values()], [Msat.fromSats(1_200_000)])
      assert.deepStrictEqual([...weighed.inBlock.values()], [Msat.fromSats(600_000), Msat.fromSats(600_000)])
    }
  )

  scenario(
    "deposits: a deposit counts as uneconomical if, when first seen, it costs more to spend than it is worth at a sustained fee rate",
    () => ({ isPending: true, ...weather() }),
    function* ({ sky }) {
      sky.rate = 100
      const { row, address } = yield* paid(1000) // to a segwit address, whose coin takes 68 vB to spend
      yield* follow
      for (let n = 0; n < 3; n++) yield* mineAndFollow(1)
      yield* send(address, 5000)
      yield* mineAndFollow(2)
      assert.deepStrictEqual(
        yield* has(row),
        { posted: 6000, held: 0 },
        "a fee rate that only a few blocks have does not count, and a new rate does not apply to deposits seen earlier"
      )
      for (let n = 0; n < feeRateBlocks.most; n++) yield* mineAndFollow(1)
      yield* send(address, 6799)
      yield* send(address, 6800)
      yield* mineAndFollow(2)
      assert.deepStrictEqual(yield* has(row), { posted: 12_800, held: 0 })
      sky.rate = 1
      yield* send(address, 601)
      yield* mineAndFollow(5)
      assert.deepStrictEqual(
        yield* has(row),
        { posted: 13_401, held: 0 },
        "a deposit seen at the lower rate is credited; a deposit that was too small when first seen stays failed"
      )
      const standing = (yield* deposits(row)).map(([status, sats]) => `${sats} ${status}`).toSorted()
      assert.deepStrictEqual(standing, [
        "1000 settled",
        "5000 settled",
        "601 settled",
        "6799 failed",
        "6800 settled"
      ])
    }
  )

  scenario(
    "C43: deposits: each output is a separate deposit, even if outputs share a transaction or an address or pay two companies",
    function* () {
      const [one, other] = [yield* company(), yield* company()]
      const [first, second] = [yield* onChainAddress(one), yield* onChainAddress(other)]
      const outputs = [
        [first, 1000],
        [second, 2000],
        [first, 3000],
        [first, 1000]
      ] as const
      yield* (yield* control).sendMany(
        outputs.map(([{ address }, sats]) => ({ address, amount: Msat.fromSats(sats) }))
      )
      const following = yield* Effect.forkChild(follow)
      yield* TestClock.adjust("10 seconds") // long enough for a rejected commit to be retried and then fail
      yield* Fiber.join(following)
      yield* mineAndFollow(2)
      assert.deepStrictEqual([yield* has(one), yield* has(other)], [unheld(5000), unheld(2000)])
      assert.strictEqual((yield* deposits(one)).length, 3)
    }
  )

  scenario(
    "deposits: a deposit mined before it is first seen is credited as soon as its block is deep enough",
    function* () {
      const { row } = yield* paid(1000)
      yield* mine(5)
      yield* follow
      assert.deepStrictEqual(yield* has(row), { posted: 1000, held: 0 })
    }
  )

  scenario(
    "C42 C44: deposits: a deposit is credited once, even if it is reported several times and to several processes",
    function* () {
      const ports = yield* Effect.context<Ports>()
      // Each process reads all activity from the beginning, and lets the others read before it writes.
      const forgetful = ports.pipe(
        replace(ChainSource, (chain) => ({ activity: (_, ours) => chain.activity(null, ours) })),
        replace(ReceivingReads, (records) => ({
          depositByOutpoint: (txId, vout) =>
            Effect.tap(records.depositByOutpoint(txId, vout), () => Effect.yieldNow)
        }))
      )
      const processes = yield* Effect.forEach([1, 2, 3], () =>
        Effect.map(start(forgetful), (process) => Context.get(process, ChainDeposits).follow())
      )
      const { row } = yield* paid(1000)
      for (let i = 0; i < 4; i++) {
        const following = yield* Effect.forkChild(Effect.all(processes, { concurrency: "unbounded" }))
        yield* TestClock.adjust("1 second") // a process that lost the race reads again
        yield* Fiber.join(following)
        yield* mine(1)
      }
      assert.deepStrictEqual(
        [yield* deposits(row), yield* has(row)],
        [[["settled", 1000, 0]], { posted: 1000, held: 0 }]
      )
    }
  )

  scenario("deposits: a payment to another address is ignored", function* () {
    const { destination } = yield* outside({ type: "chain_address" })
    yield* send(destination, 1000)
    yield* mineAndFollow(6)
    assert.deepStrictEqual(yield* accounts, {})
  })

  scenario(
    "deposits: an uneconomical deposit is recorded and never credited; a deposit of one sat more is credited",
    { isPending: true },
    function* () {
      const { row, address } = yield* paid(599)
      yield* mineAndFollow(3)
      assert.deepStrictEqual(
        [yield* deposits(row), yield* has(row)],
        [[["failed", 599, 0]], { posted: 0, held: 0 }]
      )
      const told = (yield* (yield* Records).events(0n, 100)).map(({ type }) => type)
      assert.include(told, "deposit.too_small")
      assert.notInclude(told, "deposit.pending")
      yield* reorg(3)
      yield* follow
      yield* mineAndFollow(10)
      yield* send(address, 600)
      yield* mineAndFollow(2)
      assert.deepStrictEqual(yield* has(row), { posted: 600, held: 0 })
    }
  )

  it.effect("deposits: a coinbase output is credited once it is spendable", () => {
    const change = replace(ChainSource, (chain) => ({
      transaction: (txId) =>
        Effect.map(chain.transaction(txId), (placement) =>
          placement._tag === "mined" ? { ...placement, isCoinbase: true } : placement
        )
    }))
    return run({ change }, function* () {
      const { row } = yield* paid(5000)
      yield* mineAndFollow(99)
      assert.deepStrictEqual(yield* has(row), { posted: 0, held: 0 })
      yield* mineAndFollow(1)
      assert.deepStrictEqual(yield* has(row), { posted: 5000, held: 0 })
    })
  })

  scenario("deposits: crediting waits while the chain is unavailable", function* () {
    const { row } = yield* paid(1000)
    yield* mine(2)
    yield* (yield* control).pause("chain")
    assert.strictEqual((yield* Effect.flip(follow))._tag, "ChainUnavailable")
    yield* (yield* control).resume("chain")
    yield* follow
    assert.deepStrictEqual(yield* has(row), { posted: 1000, held: 0 })
  })
})

describe("A reorganization", () => {
  scenario(
    "C45: deposits: a deposit is reversed by a reorganization, and credited again at sufficient depth in the new chain",
    function* () {
      const { row } = yield* paid(1000)
      yield* mineAndFollow(2)
      assert.deepStrictEqual(yield* has(row), { posted: 1000, held: 0 })
      yield* reorg(2)
      yield* follow
      assert.deepStrictEqual(
        [yield* deposits(row), yield* has(row)],
        [[["pending", 1000, 0]], { posted: 0, held: 0 }]
      )
      yield* mineAndFollow(1)
      assert.deepStrictEqual(yield* has(row), { posted: 0, held: 0 })
      yield* mineAndFollow(1)
      assert.deepStrictEqual(
        [yield* deposits(row), yield* has(row)],
        [[["settled", 1000, 0]], { posted: 1000, held: 0 }]
      )
    }
  )

  scenario(
    "C45: deposits: a deposit stays credited after an unobserved reorganization, and only its block changes",
    function* () {
      const records = yield* Records
      const { row, txId } = yield* paid(1000)
      yield* mineAndFollow(2)
      yield* reorg(2)
      yield* mineAndFollow(1)
      assert.deepStrictEqual(
        [yield* deposits(row), yield* has(row)],
        [[["settled", 1000, 0]], { posted: 1000, held: 0 }]
      )
      const placement = yield* (yield* ChainSource).transaction(txId)
      const [deposit] = yield* records.transactions(row.id, { limit: 1 })
      const { height } = Option.getOrThrow(yield* records.deposit(row.id, deposit?.id ?? ""))
      assert.strictEqual(height, placement._tag === "mined" ? placement.height : "not mined")
    }
  )

  scenario("deposits: a credited deposit that a longer chain double-spends is reversed", function* () {
    const { row, txId } = yield* paid(1000)
    yield* mineAndFollow(2)
    assert.deepStrictEqual(yield* has(row), unheld(1000))
    yield* reorg(2)
    yield* doubleSpend(txId)
    yield* mineAndFollow(3)
    assert.deepStrictEqual([yield* deposits(row), yield* has(row)], [[["failed", 1000, 0]], unheld(0)])
  })

  scenario(
    "C45: deposits: reversing a deposit that was already spent is the operator's loss and never makes the balance negative; the loss ends when the deposit confirms again",
    function* () {
      const { row } = yield* paid(1000)
      yield* mineAndFollow(2)
      yield* spend(row, 700)
      yield* reorg(2)
      yield* follow
      assert.deepStrictEqual(
        [yield* deposits(row), yield* has(row)],
        [[["pending", 1000, 700]], { posted: 0, held: 0 }]
      )
      assert.deepStrictEqual(yield* accounts, { available: 700, loss: -700 })
      yield* mineAndFollow(2)
      assert.deepStrictEqual(
        [yield* deposits(row), yield* has(row)],
        [[["settled", 1000, 0]], { posted: 300, held: 0 }]
      )
      assert.deepStrictEqual(yield* accounts, { available: 1000, chain: -1000 })
    }
  )

  scenario("C45: deposits: a reversal does not touch a pending withdrawal's hold", function* () {
    const { row } = yield* paid(5000)
    yield* mineAndFollow(2)
    const { destination, paymentHash } = yield* outside({ sats: 1000, behaviour: "hold" })
    yield* confirm(row, destination)
    yield* step
    yield* reorg(2)
    yield* follow
    assert.deepStrictEqual(
      [yield* deposits(row), yield* has(row)],
      [[["pending", 5000, 1012]], { posted: 1012, held: 1012 }]
    )
    yield* (yield* control).release({ paymentHash: paymentHash ?? PaymentHash.make(""), outcome: "settle" })
    yield* steps(3)
    assert.deepStrictEqual(yield* has(row), { posted: 0, held: 0 })
  })

  it.effect(
    "C45: deposits: a reversal that happens while the company is spending takes the remaining balance",
    () => {
      let interfere: Effect.Effect<unknown> = Effect.void
      const meanwhile = replace(Journal, (journal) => ({
        commit: (change) => {
          if (change._tag !== "DepositReversed") return journal.commit(change)
          const first = interfere
          interfere = Effect.void
          return Effect.andThen(first, journal.commit(change))
        }
      }))
      return run({ change: meanwhile }, function* () {
        const { row } = yield* paid(1000)
        yield* mineAndFollow(2)
        const ports = yield* Effect.context<Ports>()
        const other = yield* start(ports)
        interfere = Effect.orDie(
          Effect.provideContext(Effect.scoped(spend(row, 700)), Context.merge(ports, other))
        )
        yield* reorg(2)
        yield* follow
        assert.deepStrictEqual(
          [yield* deposits(row), yield* has(row)],
          [[["pending", 1000, 700]], { posted: 0, held: 0 }]
        )
      })
    }
  )
})

describe("A double spend", () => {
  scenario(
    "C45: deposits: a pending deposit that is double-spent fails without having been credited",
    function* () {
      const { row, txId } = yield* paid(1000)
      yield* follow
      yield* doubleSpend(txId)
      yield* follow
      assert.deepStrictEqual(yield* deposits(row), [["failed", 1000, 0]])
      yield* mineAndFollow(10)
      assert.deepStrictEqual(
        [yield* deposits(row), yield* has(row)],
        [[["failed", 1000, 0]], { posted: 0, held: 0 }]
      )
    }
  )

  scenario(
    "C45: deposits: a double spend reverses a credited deposit; the company's remaining balance covers part of it, and the operator covers the rest",
    function* () {
      const { row, txId } = yield* paid(1000)
      yield* mineAndFollow(2)
      yield* spend(row, 700)
      yield* reorg(2)
      yield* doubleSpend(txId)
      yield* mineAndFollow(10)
      assert.deepStrictEqual(
        [yield* deposits(row), yield* has(row)],
        [[["failed", 1000, 700]], { posted: 0, held: 0 }]
      )
      assert.deepStrictEqual(yield* accounts, { available: 700, loss: -700 })
    }
  )
})

describe("A chain source that is behind", () => {
  it.effect("deposits: a mined deposit is not evicted when the source does not find it by its id", () => {
    const weather = { isBehind: false }
    const change = replace(ChainSource, (chain) => ({
      transaction: (txId) =>
        Effect.map(chain.transaction(txId), (placement) => (weather.isBehind ? { _tag: "gone" } : placement))
    }))
    return run({ change }, function* () {
      const { row, address } = yield* paid(1000)
      yield* follow
      weather.isBehind = true
      yield* send(address, 700) // nobody has seen this payment
      yield* mine(2)
      for (let looks = 0; looks < 3; looks++) {
        assert.strictEqual((yield* Effect.flip(follow))._tag, "ChainUnavailable")
        assert.deepStrictEqual(yield* deposits(row), [["pending", 1000, 0]])
      }
      weather.isBehind = false
      yield* follow
      assert.deepStrictEqual(yield* has(row), { posted: 1700, held: 0 })
    })
  })

  it.effect(
    "C45: deposits: if a recheck fails, the place in the chain is not stored, so that the next run checks the same deposits",
    () => {
      const weather = { isAway: false }
      const change = replace(ReceivingReads, ({ depositsAbove }) => ({
        depositsAbove: (...range) =>
          weather.isAway
            ? Effect.fail(new StoreUnavailable({ operation: "test", cause: "away" }))
            : depositsAbove(...range)
      }))
      return run({ change }, function* () {
        const { row, txId } = yield* paid(1000)
        yield* mineAndFollow(1)
        const cursor = Effect.flatMap(LedgerReads, (ledger) =>
          Effect.map(ledger.cursor("chain"), Option.getOrThrow)
        )
        const before = yield* cursor
        yield* reorg(1)
        yield* doubleSpend(txId)
        yield* mine(2)
        weather.isAway = true
        assert.strictEqual((yield* Effect.flip(follow))._tag, "StoreUnavailable")
        assert.strictEqual(yield* cursor, before)
        weather.isAway = false
        yield* follow
        assert.notStrictEqual(yield* cursor, before)
        assert.deepStrictEqual((yield* deposits(row))[0]?.[0], "failed")
      })
    }
  )

  scenario(
    "deposits: as blocks arrive, wrongly evicted deposits are searched for again, a few per block, until all are credited",
    function* () {
      const journal = yield* Journal
      const records = yield* Records
      const row = yield* company()
      const { address } = yield* onChainAddress(row)
      yield* (yield* control).sendMany(
        Array.from({ length: 60 }, () => ({ address, amount: Msat.fromSats(1000) }))
      )
      yield* mineAndFollow(1)
      for (const deposit of yield* records.depositsInBlocks(null, 100))
        yield* journal.commit(Deposit.dropped(deposit, 0))
      const standing = Effect.map(deposits(row), (all) => all.map(([status]) => status))
      const count = (status: string) =>
        Effect.map(standing, (all) => all.filter((one) => one === status).length)
      assert.strictEqual(yield* count("failed"), 60)
      yield* follow // without a new block, nothing is looked up
      assert.strictEqual(yield* count("failed"), 60)
      yield* mineAndFollow(1)
      assert.deepStrictEqual([yield* count("settled"), yield* count("failed")], [50, 10])
      yield* mineAndFollow(1)
      assert.deepStrictEqual([yield* count("settled"), yield* has(row)], [60, { posted: 60_000, held: 0 }])
    }
  )

  it.effect(
    "deposits: while blocks are left to read, the deposits up to the last block read are checked, and no later ones",
    () => {
      const ranges: Array<unknown> = []
      const weather = { blocksLeft: 3 }
      const change = (ports: Context.Context<Ports>) =>
        ports.pipe(
          replace(ChainSource, (chain) => ({
            activity: (after, ours) =>
              Effect.map(chain.activity(after, ours), (activity) => ({
                ...activity,
                ...weather,
                unchangedTo: 90,
                tip: { ...activity.tip, height: 100 }
              }))
          })),
          replace(ReceivingReads, ({ depositsAbove }) => ({
            depositsAbove: (above, upTo, ...page) => {
              ranges.push([above, upTo])
              return depositsAbove(above, upTo, ...page)
            }
          }))
        )
      return run({ change }, function* () {
        yield* follow
        weather.blocksLeft = 0
        yield* follow
        assert.deepStrictEqual(ranges, [
          [90, 97],
          [90, null]
        ])
      })
    }
  )

  scenario("C45: deposits: a process that lost its lease does not move the cursor", function* () {
    yield* Effect.flatMap(ChainDeposits, (chain) => chain.follow({ taskId: Id.nil, token: 0 }))
    const cursor = Effect.flatMap(LedgerReads, (ledger) => ledger.cursor("chain"))
    assert.isTrue(Option.isNone(yield* cursor))
    yield* follow
    assert.isTrue(Option.isSome(yield* cursor))
  })

  it.effect(
    "deposits: if a lookup of an evicted deposit fails, the next run at the same block repeats it",
    () => {
      const weather = { isAway: false }
      const change = replace(ChainSource, (chain) => ({
        transaction: (txId) =>
          weather.isAway
            ? Effect.fail(new ChainUnavailable({ operation: "transaction", cause: "away" }))
            : chain.transaction(txId)
      }))
      return run({ change }, function* () {
        const { row } = yield* paid(1000)
        yield* mineAndFollow(1)
        const [deposit = assert.fail("no deposit")] = yield* (yield* Records).depositsInBlocks(null, 1)
        yield* (yield* Journal).commit(Deposit.dropped(deposit, 0))
        yield* mine(1)
        weather.isAway = true
        assert.strictEqual((yield* Effect.flip(follow))._tag, "ChainUnavailable")
        weather.isAway = false
        yield* follow
        assert.deepStrictEqual(
          [yield* deposits(row), yield* has(row)],
          [[["settled", 1000, 0]], { posted: 1000, held: 0 }]
        )
      })
    }
  )

  it.effect(
    "C45: deposits: a deposit that moved to another block is not credited before that block is deep enough",
    () => {
      const weather = { moved: 0 }
      const change = replace(ChainSource, (chain) => ({
        transaction: (txId) =>
          Effect.map(chain.transaction(txId), (placement) =>
            placement._tag === "mined"
              ? { ...placement, height: placement.height + weather.moved }
              : placement
          )
      }))
      return run({ change }, function* () {
        const { row } = yield* paid(1000)
        yield* mineAndFollow(1)
        weather.moved = 1 // a reorganization that `activity` did not report
        yield* mineAndFollow(1)
        assert.deepStrictEqual(
          [yield* deposits(row), yield* has(row)],
          [[["pending", 1000, 0]], { posted: 0, held: 0 }]
        )
        yield* mineAndFollow(1)
        assert.deepStrictEqual(yield* has(row), { posted: 1000, held: 0 })
      })
    }
  )
})

describe("A process with stale data", () => {
  /**
   * Runs `follow` under `fence`, if given, and pauses it after the chain's response to `question`. The
   * returned effect resumes it.
   */
  const slowAfter = Effect.fnUntraced(function* (question: "activity" | "transaction", fence?: Fence) {
    const [told, goesOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const slowly = <A, E, R>(asked: Effect.Effect<A, E, R>) =>
      Effect.tap(asked, () => Effect.andThen(Deferred.succeed(told, undefined), Deferred.await(goesOn)))
    const ports = replace(ChainSource, (chain) =>
      question === "activity"
        ? { activity: (after, ours) => slowly(chain.activity(after, ours)) }
        : { transaction: (txId) => slowly(chain.transaction(txId)) }
    )(yield* Effect.context<Ports>())
    const fiber = yield* Effect.forkChild(Context.get(yield* start(ports), ChainDeposits).follow(fence))
    yield* Deferred.await(told)
    return Effect.andThen(Deferred.succeed(goesOn, undefined), Fiber.join(fiber))
  })

  /** Runs `follow` and pauses it before it moves the cursor. The returned effect resumes it. */
  const slowToFinish = Effect.gen(function* () {
    const [almost, goesOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const ports = replace(Journal, (journal) => ({
      commit: (change) =>
        change._tag === "CursorMoved"
          ? Effect.andThen(
              Deferred.succeed(almost, undefined),
              Effect.andThen(Deferred.await(goesOn), journal.commit(change))
            )
          : journal.commit(change)
    }))(yield* Effect.context<Ports>())
    const fiber = yield* Effect.forkChild(Context.get(yield* start(ports), ChainDeposits).follow())
    yield* Deferred.await(almost)
    return Effect.andThen(Deferred.succeed(goesOn, undefined), Fiber.join(fiber))
  })

  scenario(
    "C45: deposits: a process with stale data does not move a deposit back to the mempool, where the deposit would not be polled",
    function* () {
      const { row } = yield* paid(1000)
      const behind = yield* slowAfter("activity")
      yield* mine(1)
      const ahead = yield* slowToFinish
      yield* behind
      yield* ahead
      yield* mineAndFollow(1)
      assert.deepStrictEqual(
        [yield* deposits(row), yield* has(row)],
        [[["settled", 1000, 0]], { posted: 1000, held: 0 }]
      )
    }
  )

  scenario(
    "C45: deposits: a process with stale data does not move a deposit back to a removed block, which would cause the deposit to be credited",
    function* () {
      const { row, txId } = yield* paid(1000)
      yield* mineAndFollow(1)
      yield* reorg(1)
      yield* mine(1) // in another block
      const behind = yield* slowAfter("activity")
      yield* reorg(1)
      yield* doubleSpend(txId)
      const ahead = yield* slowToFinish
      assert.strictEqual((yield* Effect.flip(behind))._tag, "ChainUnavailable") // `activity` reported a block that the chain no longer has
      yield* ahead
      yield* mineAndFollow(5)
      assert.deepStrictEqual(
        [yield* deposits(row), yield* has(row)],
        [[["failed", 1000, 0]], { posted: 0, held: 0 }]
      )
    }
  )

  scenario(
    "C45: deposits: a deposit that a process with stale data records after a reorganization removed it is evicted",
    function* () {
      const { row, txId } = yield* paid(1000)
      yield* mine(1)
      const behind = yield* slowAfter("transaction", { taskId: Id.nil, token: 0 })
      yield* reorg(1)
      yield* doubleSpend(txId)
      yield* follow
      yield* mineAndFollow(1)
      yield* behind
      assert.deepStrictEqual(yield* deposits(row), [["pending", 1000, 0]])
      yield* mineAndFollow(5)
      assert.deepStrictEqual(
        [yield* deposits(row), yield* has(row)],
        [[["failed", 1000, 0]], { posted: 0, held: 0 }]
      )
    }
  )
})
