import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Deposit from "@satrail/core/receiving/Deposit"
import { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect, Option } from "effect"
import type { Promises } from "../Contract.ts"
import {
  companyWith,
  found,
  open,
  output,
  tally,
  unchanged,
  unopened,
  verdict,
  withdrawal
} from "../Fixtures.ts"
import { booked, has } from "../Ledger.ts"

const atMillis = 1_700_000_000_000

const read = Effect.fnUntraced(function* ({ companyId, id }: Deposit.Deposit) {
  return yield* found((yield* Records).deposit(companyId, id))
})

/** Commits a transition of a deposit and returns the resulting deposit. */
const moved = Effect.fnUntraced(function* (change: Deposit.DepositChange) {
  assert.strictEqual(yield* verdict(change), "Applied")
  const row = yield* read(Deposit.after(change))
  assert.deepStrictEqual(row, Deposit.after(change))
  return row
})

/** Creates a deposit whose output was seen and is now in a block. */
const placed = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, sats: number) {
  const row = yield* output(companyId, sats)
  assert.strictEqual(yield* verdict(Deposit.seen(row)), "Applied")
  return yield* moved(Deposit.placed(row, 800, atMillis))
})

const credited = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, sats: number) {
  return yield* moved(Deposit.confirmed(yield* placed(companyId, sats), atMillis))
})

const spend = (companyId: CompanyId.CompanyId, sats: number) =>
  Effect.flatMap(withdrawal(companyId, sats), (row) => verdict(Withdrawal.requested(row)))

/** Guarantees about how on-chain deposits affect a company's money. */
export const money = {
  "a deposit that is unconfirmed or not deep enough is not credited": Effect.gen(function* () {
    const companyId = yield* open
    const row = yield* output(companyId, 100)
    assert.deepStrictEqual(yield* booked(verdict(Deposit.seen(row))), {})
    assert.deepStrictEqual(yield* read(row), row)
    const inBlock = yield* moved(Deposit.placed(row, 800, atMillis))
    assert.strictEqual(inBlock.status, "pending")
    yield* moved(Deposit.placed(inBlock, null, atMillis))
    yield* has(companyId, { posted: 0, held: 0 })
  }),
  "a deposit with enough confirmations is credited once": Effect.gen(function* () {
    const companyId = yield* open
    const row = yield* placed(companyId, 100)
    const confirmed = Deposit.confirmed(row, atMillis)
    assert.deepStrictEqual(yield* booked(moved(confirmed)), { available: 100, chain: -100 })
    assert.strictEqual(yield* unchanged(confirmed), "Applied")
    yield* has(companyId, { posted: 100, held: 0 })
  }),
  "a deposit that eight workers confirm concurrently is credited once": Effect.gen(function* () {
    const companyId = yield* open
    const row = yield* placed(companyId, 100)
    const confirmed = Array.from({ length: 8 }, (_, n) => Deposit.confirmed(row, atMillis + n))
    const verdicts = yield* Effect.forEach(confirmed, verdict, { concurrency: "unbounded" })
    assert.deepStrictEqual(tally(verdicts), { Applied: 1, DepositMoved: 7 })
    yield* has(companyId, { posted: 100, held: 0 })
  }),
  "C42: an output is credited once, whatever ids it is recorded under": Effect.gen(function* () {
    const [companyId, otherId] = [yield* open, yield* open]
    const row = yield* credited(companyId, 100)
    const { chainTxId, vout } = row
    for (const owner of [companyId, otherId]) {
      const again = yield* output(owner, 100, { chainTxId, vout })
      assert.strictEqual(yield* unchanged(Deposit.seen(again)), "DepositMoved")
      assert.isTrue(Option.isNone(yield* (yield* Records).deposit(owner, again.id)))
    }
    assert.strictEqual(
      (yield* found((yield* Records).depositByOutpoint(chainTxId ?? TxId.make(""), vout ?? 0))).id,
      row.id
    )
    yield* has(companyId, { posted: 100, held: 0 })
    yield* has(otherId, { posted: 0, held: 0 })
  }),
  "C42: an output that eight workers record concurrently is one deposit": Effect.gen(function* () {
    const companyId = yield* open
    const { chainTxId } = yield* output(companyId, 100)
    const seen = yield* Effect.forEach(Array.from({ length: 8 }), () => output(companyId, 100, { chainTxId }))
    const verdicts = yield* Effect.forEach(seen, (row) => verdict(Deposit.seen(row)), {
      concurrency: "unbounded"
    })
    assert.deepStrictEqual(tally(verdicts), { Applied: 1, DepositMoved: 7 })
    assert.strictEqual((yield* (yield* Records).transactions(companyId, { limit: 10 })).length, 1)
    yield* has(companyId, { posted: 0, held: 0 })
  }),
  "C43: every output of a transaction is credited": Effect.gen(function* () {
    const companyId = yield* open
    const first = yield* output(companyId, 100, { vout: 0 })
    const second = yield* output(companyId, 20, { chainTxId: first.chainTxId, vout: 1 })
    for (const row of [first, second]) {
      assert.strictEqual(yield* verdict(Deposit.seen(row)), "Applied")
      yield* moved(Deposit.confirmed(yield* moved(Deposit.placed(row, 800, atMillis)), atMillis))
    }
    yield* has(companyId, { posted: 120, held: 0 })
  }),
  "C45: a transition from a state that the deposit has left is refused": Effect.gen(function* () {
    const companyId = yield* open
    const before = yield* placed(companyId, 100)
    const row = yield* moved(Deposit.placed(before, 801, atMillis))
    const late = [
      Deposit.placed(before, 802, atMillis),
      Deposit.confirmed(before, atMillis),
      Deposit.dropped(before, atMillis),
      Deposit.reversed(before, Msat.zero, atMillis)
    ]
    for (const change of late) assert.strictEqual(yield* unchanged(change), "DepositMoved")
    assert.strictEqual(
      yield* unchanged(Deposit.placed({ ...row, revision: 8 }, 802, atMillis)),
      "DepositMoved"
    )
    assert.deepStrictEqual(yield* read(row), row)
    yield* has(companyId, { posted: 0, held: 0 })
  }),
  "C45: a deposit removed by a reorganization is reversed, and credited again when it returns": Effect.gen(
    function* () {
      const companyId = yield* companyWith(10)
      const row = yield* credited(companyId, 100)
      const reversed = Deposit.reversed(row, Msat.zero, atMillis)
      assert.deepStrictEqual(yield* booked(moved(reversed)), { available: -100, chain: 100 })
      assert.strictEqual(yield* unchanged(reversed), "Applied")
      yield* has(companyId, { posted: 10, held: 0 })
      yield* moved(
        Deposit.confirmed(yield* moved(Deposit.placed(Deposit.after(reversed), 805, atMillis)), atMillis)
      )
      yield* has(companyId, { posted: 110, held: 0 })
    }
  ),
  "C45: the spent part of a reversed deposit is posted as the operator's loss until the payment returns":
    Effect.gen(function* () {
      const companyId = yield* open
      const row = yield* credited(companyId, 100)
      assert.strictEqual(yield* spend(companyId, 30), "Applied")
      for (const absorbed of [0, 29]) {
        assert.strictEqual(
          yield* unchanged(Deposit.reversed(row, Msat.fromSats(absorbed), atMillis)),
          "InsufficientBalance"
        )
      }
      assert.deepStrictEqual(yield* read(row), row)
      const reversed = Deposit.reversed(row, Msat.fromSats(30), atMillis)
      assert.deepStrictEqual(yield* booked(moved(reversed)), { available: -70, chain: 100, loss: -30 })
      yield* has(companyId, { posted: 30, held: 30 })
      const again = yield* moved(Deposit.placed(Deposit.after(reversed), 805, atMillis))
      assert.deepStrictEqual(yield* booked(moved(Deposit.confirmed(again, atMillis))), {
        available: 70,
        chain: -100,
        loss: 30
      })
      yield* has(companyId, { posted: 100, held: 30 })
    }),
  "C45: a reorganization takes nothing from a company that has spent its whole deposit": Effect.gen(
    function* () {
      const companyId = yield* open
      const row = yield* credited(companyId, 100)
      assert.strictEqual(yield* spend(companyId, 100), "Applied")
      assert.deepStrictEqual(yield* booked(moved(Deposit.reversed(row, Msat.fromSats(100), atMillis))), {
        chain: 100,
        loss: -100
      })
      yield* has(companyId, { posted: 100, held: 100 })
    }
  ),
  "C45: a hold that is released after a reversal repays the operator, pending or failed, and the ledger stays sound":
    Effect.gen(function* () {
      const records = yield* Records
      const companyId = yield* open
      const row = yield* credited(companyId, 100)
      const hold = yield* withdrawal(companyId, 60)
      assert.strictEqual(yield* verdict(Withdrawal.requested(hold)), "Applied")
      const reversed = yield* moved(Deposit.reversed(row, Msat.fromSats(60), atMillis))
      const owed = Effect.map(records.depositsOwed(10_000), (rows) =>
        rows.filter((one) => one.companyId === companyId)
      )
      assert.deepStrictEqual(yield* owed, [])
      assert.strictEqual(
        yield* unchanged(Deposit.reclaimed(reversed, Msat.fromSats(60), atMillis)),
        "InsufficientBalance"
      )
      assert.strictEqual(yield* verdict(Withdrawal.failed(hold, "canceled", undefined, atMillis)), "Applied")
      assert.deepStrictEqual(yield* owed, [reversed])
      const part = Deposit.reclaimed(reversed, Msat.fromSats(25), atMillis)
      assert.deepStrictEqual(yield* booked(moved(part)), { available: -25, loss: 25 })
      assert.strictEqual(yield* unchanged(part), "Applied")
      assert.strictEqual(
        yield* unchanged(Deposit.reclaimed(reversed, Msat.fromSats(1), atMillis)),
        "DepositMoved"
      )
      const gone = yield* moved(Deposit.dropped(Deposit.after(part), atMillis))
      assert.deepStrictEqual(yield* owed, [gone])
      const repaid = Deposit.reclaimed(gone, Msat.fromSats(35), atMillis)
      assert.deepStrictEqual(yield* booked(moved(repaid)), { available: -35, loss: 35 })
      assert.deepStrictEqual([yield* owed, yield* records.faults(companyId)], [[], []])
      yield* has(companyId, { posted: 0, held: 0 })
      const back = yield* moved(Deposit.placed(Deposit.after(repaid), 806, atMillis))
      assert.deepStrictEqual(yield* booked(moved(Deposit.confirmed(back, atMillis))), {
        available: 100,
        chain: -100
      })
      assert.deepStrictEqual(yield* records.faults(companyId), [])
    }),
  "C45: reversing and spending a deposit concurrently never makes a balance negative": Effect.gen(
    function* () {
      const companyId = yield* open
      const row = yield* credited(companyId, 100)
      const asked = Withdrawal.requested(yield* withdrawal(companyId, 60))
      const verdicts = yield* Effect.forEach([Deposit.reversed(row, Msat.zero, atMillis), asked], verdict, {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(tally(verdicts), { Applied: 1, InsufficientBalance: 1 })
      yield* has(companyId, verdicts[0] === "Applied" ? { posted: 0, held: 0 } : { posted: 100, held: 60 })
    }
  ),
  "C45: a double-spent deposit fails, and is restored if the double spend is undone": Effect.gen(
    function* () {
      const companyId = yield* open
      const dropped = Deposit.dropped(yield* placed(companyId, 100), atMillis)
      const gone = yield* moved(dropped)
      assert.strictEqual(gone.status, "failed")
      assert.strictEqual(yield* unchanged(dropped), "Applied")
      yield* has(companyId, { posted: 0, held: 0 })
      const back = yield* moved(Deposit.placed(gone, 806, atMillis))
      assert.strictEqual(back.status, "pending")
      yield* moved(Deposit.confirmed(back, atMillis))
      yield* has(companyId, { posted: 100, held: 0 })
    }
  ),
  "a settled deposit can move to another block without moving money": Effect.gen(function* () {
    const companyId = yield* open
    const row = yield* credited(companyId, 100)
    assert.deepStrictEqual(yield* booked(moved(Deposit.placed(row, 801, atMillis))), {})
    assert.strictEqual((yield* read(row)).status, "settled")
    yield* has(companyId, { posted: 100, held: 0 })
  }),
  "another company cannot move a deposit": Effect.gen(function* () {
    const [companyId, otherId] = [yield* open, yield* unopened]
    const row = yield* placed(companyId, 100)
    const change = Deposit.confirmed({ ...row, companyId: otherId }, atMillis)
    // Only a bug would commit this. The store may fail in any way, but nothing may change.
    yield* Effect.exit(verdict(change))
    assert.deepStrictEqual(yield* read(row), row)
    yield* has(companyId, { posted: 0, held: 0 })
    yield* has(otherId, { posted: 0, held: 0 })
  })
} satisfies Promises<Journal | Records | Tasks>
