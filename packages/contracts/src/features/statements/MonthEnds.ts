import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Balance from "@satrail/core/ledger/Balance"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Deposit from "@satrail/core/receiving/Deposit"
import type * as Booking from "@satrail/core/reports/Booking"
import * as Statement from "@satrail/features/statements/core/Statement"
import type { MonthSums } from "@satrail/features/statements/core/StatementReads"
import * as MonthEnd from "@satrail/features/statements/core/MonthEnd"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Records } from "@satrail/core/service/Records"
import { Effect } from "effect"
import type * as Contract from "../../Contract.ts"
import {
  begin,
  committed,
  companyWith,
  lightningAttempt,
  open,
  output,
  past,
  proof,
  unopened,
  verdict
} from "../../Fixtures.ts"

/** A company's first month end. */
export const monthEnd = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  fields: Partial<MonthEnd.MonthEnd> = {}
) {
  const [id, createdAtMillis] = [yield* Id.make, yield* past]
  return {
    id,
    companyId,
    number: 1,
    untilMillis: 1_767_225_600_000,
    lastEntry: "0",
    createdAtMillis,
    ...fields
  }
})

// Months may have any length. Each begins where the previous one ends.
const monthMillis = 1000
const month = (n: number): Booking.Period => ({
  fromMillis: n * monthMillis,
  untilMillis: (n + 1) * monthMillis
})

const deposit = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, sats: number, atMillis: number) {
  const seen = yield* output(companyId, sats, { createdAtMillis: atMillis })
  yield* committed(Deposit.seen(seen), Deposit.confirmed(seen, atMillis))
})

/** Closes all months that end by this time, including everything posted so far. */
const close = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, untilMillis: number) {
  const { number, last } = yield* (yield* Records).booksClosed(companyId)
  const end = yield* monthEnd(companyId, { number: number + 1, untilMillis, lastEntry: String(last) })
  assert.strictEqual(yield* verdict(MonthEnd.closed(end)), "Applied")
})

const told = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, n: number) {
  return yield* (yield* Records).monthSums(companyId, month(n))
})

/** Returns each part of a statement in msat. */
const sums = ({ isClosed, before, within, late }: MonthSums) => [
  isClosed,
  ...[before, within, late].map((turnovers) => Balance.effect(turnovers).posted / 1000n)
]

export const money = {
  "a statement's opening balance, receipts, payments and fees add up to its closing balance": Effect.gen(
    function* () {
      const companyId = yield* companyWith(1_000)
      const fees = { serviceFee: Msat.make(5_001n), networkAllowance: Msat.make(10_000n) }
      const { withdrawal, fence } = yield* begin(companyId, 200, fees)
      yield* committed(
        Withdrawal.dispatched(withdrawal, yield* lightningAttempt, fence, withdrawal.createdAtMillis),
        Withdrawal.settled(withdrawal, yield* proof(3), fence, withdrawal.createdAtMillis + 1)
      )
      const everything = { fromMillis: 0, untilMillis: 9_000_000_000_000 }
      const { before, within } = yield* (yield* Records).bookedSums(companyId, everything)
      const statement = Statement.of({ isClosed: false, before, within, late: [] })
      assert.isAbove(Number(Statement.fees(statement)), 0)
      assert.strictEqual(
        Msat.make(
          statement.opening.posted +
            Statement.received(statement) -
            Statement.sent(statement) -
            Statement.fees(statement)
        ),
        statement.closing.posted
      )
    }
  ),
  "a company without entries or month ends has empty sums and no closed month": Effect.gen(function* () {
    const none = yield* unopened
    assert.deepStrictEqual(yield* (yield* Records).booksClosed(none), { number: 0, untilMillis: 0, last: 0n })
    assert.deepStrictEqual(yield* told(none, 1), { isClosed: false, before: [], within: [], late: [] })
    yield* close(none, month(1).untilMillis)
    assert.deepStrictEqual(yield* told(none, 1), { isClosed: true, before: [], within: [], late: [] })
    assert.isFalse((yield* told(none, 2)).isClosed)
  }),
  "an open month includes everything dated in it; the first open month also includes late entries for closed months":
    Effect.gen(function* () {
      const [companyId, otherId] = [yield* open, yield* companyWith(5)]
      yield* deposit(companyId, 1, month(1).fromMillis)
      yield* deposit(companyId, 10, month(2).fromMillis)
      yield* deposit(companyId, 100, month(1).untilMillis - 1)
      assert.deepStrictEqual(sums(yield* told(companyId, 1)), [false, 0n, 101n, 0n])
      assert.deepStrictEqual(sums(yield* told(companyId, 2)), [false, 101n, 10n, 0n])
      const { last } = yield* (yield* Records).booksClosed(companyId)
      yield* close(companyId, month(1).untilMillis)
      yield* close(otherId, month(9).untilMillis)
      const closed = yield* told(companyId, 1)
      yield* deposit(companyId, 1000, month(1).fromMillis + 5)
      yield* deposit(companyId, 2000, month(1).fromMillis + 7)
      assert.deepStrictEqual(yield* told(companyId, 1), closed)
      assert.deepStrictEqual(sums(closed), [true, 0n, 101n, 0n])
      const next = yield* told(companyId, 2)
      assert.deepStrictEqual(sums(next), [false, 101n, 10n, 3000n])
      assert.deepStrictEqual(
        next.late.map(({ firstMillis, lastMillis, amount, count }) => [
          firstMillis,
          lastMillis,
          amount,
          count
        ]),
        [[month(1).fromMillis + 5, month(1).fromMillis + 7, Msat.fromSats(3000), 2]]
      )
      assert.deepStrictEqual(sums(yield* told(companyId, 3)), [false, 3111n, 0n, 0n])
      const now = yield* (yield* Records).booksClosed(companyId)
      assert.deepStrictEqual([now.number, now.untilMillis, now.last > last], [1, month(1).untilMillis, true])
    }),
  "a month end closes every earlier month, and a closed month never changes": Effect.gen(function* () {
    const companyId = yield* open
    yield* deposit(companyId, 1, month(1).fromMillis)
    yield* deposit(companyId, 2, month(2).fromMillis)
    yield* close(companyId, month(2).untilMillis)
    yield* deposit(companyId, 10, month(1).fromMillis)
    yield* deposit(companyId, 20, month(3).fromMillis)
    yield* close(companyId, month(4).untilMillis)
    yield* deposit(companyId, 100, month(2).fromMillis)
    yield* deposit(companyId, 200, month(4).fromMillis)
    yield* deposit(companyId, 400, month(5).fromMillis)
    const all = yield* Effect.forEach([0, 1, 2, 3, 4, 5, 6], (n) => told(companyId, n))
    assert.deepStrictEqual(all.map(sums), [
      [true, 0n, 0n, 0n],
      [true, 0n, 1n, 0n],
      [true, 1n, 2n, 0n],
      [true, 3n, 20n, 10n],
      [true, 33n, 0n, 0n],
      [false, 33n, 400n, 300n],
      [false, 733n, 0n, 0n]
    ])
    yield* close(companyId, month(6).untilMillis)
    const again = yield* Effect.forEach([0, 1, 2, 3, 4, 5, 6], (n) => told(companyId, n))
    assert.deepStrictEqual(again.slice(0, 5), all.slice(0, 5))
    assert.deepStrictEqual(
      again.map((one) => sums(one).slice(1)),
      all.map((one) => sums(one).slice(1))
    )
    assert.strictEqual((yield* (yield* Records).balance(companyId)).posted, Msat.fromSats(733))
  }),
  "if two month ends have the same number, only the first is kept": Effect.gen(function* () {
    const [companyId, otherId] = [yield* open, yield* open]
    const [one, other, theirs] = [
      yield* monthEnd(companyId),
      yield* monthEnd(companyId, { untilMillis: 7 }),
      yield* monthEnd(otherId)
    ]
    const verdicts = yield* Effect.forEach([one, other, one, theirs], (end) => verdict(MonthEnd.closed(end)))
    assert.deepStrictEqual(verdicts, ["Applied", "Conflict", "Applied", "Applied"])
    assert.strictEqual((yield* (yield* Records).booksClosed(companyId)).untilMillis, one.untilMillis)
  })
} satisfies Contract.Promises<Journal | Records | Tasks>
