import { assert, describe } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Fixtures from "@satrail/contracts/Fixtures"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type * as Balance from "@satrail/core/ledger/Balance"
import { Journal } from "@satrail/core/ledger/Journal"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as Deposit from "@satrail/core/receiving/Deposit"
import { type Month, Statements } from "../../../src/statements/core/Statements.ts"
import * as MonthEnd from "../../../src/statements/core/MonthEnd.ts"
import * as Statement from "../../../src/statements/core/Statement.ts"
import { Records } from "@satrail/core/service/Records"
import { company, replace, scenario } from "../../../../core/test/World.ts"

const at = (time: string): number => Date.parse(`${time}Z`)

/** Commits a deposit now, with `time` as the time of its confirmation. */
const deposit = Effect.fnUntraced(function* (companyId: Month["companyId"], sats: number, time: string) {
  const journal = yield* Journal
  const seen = yield* Fixtures.output(companyId, sats, { createdAtMillis: at(time) })
  yield* journal.commit(Deposit.seen(seen))
  yield* journal.commit(Deposit.confirmed(seen, at(time)))
})

const statement = Effect.fnUntraced(function* (companyId: Month["companyId"], month: string) {
  return yield* (yield* Statements).get(companyId, month)
})

const pending = { isPending: true } as const

/**
 * Asserts that each month's lines add up to the difference between the month's opening and closing balances,
 * that each closing balance is the next month's opening balance, and that the last closing balance is the
 * company's balance.
 */
const chained = Effect.fnUntraced(function* (companyId: Month["companyId"], months: ReadonlyArray<string>) {
  let before: Balance.Balance | undefined
  for (const month of months) {
    const one = yield* statement(companyId, month)
    assert.deepStrictEqual(one.opening, before ?? one.opening, month)
    const [received, sent, fees] = [Statement.received, Statement.sent, Statement.fees].map((part) =>
      Statement.whole(part)(one)
    )
    assert.strictEqual<bigint>(
      one.opening.posted + (received ?? 0n) - (sent ?? 0n) - (fees ?? 0n),
      one.closing.posted,
      month
    )
    before = one.closing
  }
  assert.deepStrictEqual<Balance.Balance | undefined>(before, yield* (yield* Records).balance(companyId))
})

describe("closed months", () => {
  scenario(
    "statement: a final statement never changes; later entries for its month appear as late entries in the next statement",
    pending,
    function* () {
      const { id } = yield* company()
      yield* TestClock.setTime(at("2026-02-01T00:05:00"))
      yield* deposit(id, 100, "2026-01-20T10:00:00")
      const told = yield* statement(id, "2026-01")
      assert.isTrue(told.isFinal)
      yield* deposit(id, 7, "2026-01-31T23:59:58")
      yield* deposit(id, 8, "2026-01-31T23:59:59")
      yield* deposit(id, 40, "2026-02-03T10:00:00")
      assert.deepStrictEqual(yield* statement(id, "2026-01"), told)
      const next = yield* statement(id, "2026-02")
      assert.isFalse(next.isFinal)
      assert.deepStrictEqual(
        [next.deposits, next.late.deposits],
        [
          { amount: Msat.fromSats(40), count: 1 },
          { amount: Msat.fromSats(15), count: 2 }
        ]
      )
      assert.deepStrictEqual(
        [next.late.firstMillis, next.late.lastMillis],
        [at("2026-01-31T23:59:58"), at("2026-01-31T23:59:59")]
      )
      yield* chained(id, ["2025-12", "2026-01", "2026-02"])
    }
  )

  scenario(
    "statement: reading a statement before it is final does not close its month, and the final statement includes later entries",
    pending,
    function* () {
      const { id } = yield* company()
      yield* TestClock.setTime(at("2026-02-01T00:04:59"))
      yield* deposit(id, 100, "2026-01-20T10:00:00")
      assert.isFalse((yield* statement(id, "2026-01")).isFinal)
      yield* deposit(id, 7, "2026-01-31T23:59:58")
      yield* TestClock.adjust(1000)
      const { isFinal, closing, late } = yield* statement(id, "2026-01")
      assert.deepStrictEqual([isFinal, closing.posted, late.firstMillis], [true, Msat.fromSats(107), null])
    }
  )

  scenario(
    "statement: a request closes every month that is over, and no month is closed twice",
    pending,
    function* () {
      const { id } = yield* company()
      yield* TestClock.setTime(at("2026-04-15T00:00:00"))
      for (const month of ["2026-01", "2026-02", "2026-03", "2026-04"])
        yield* deposit(id, 10, `${month}-11T11:11:11`)
      const told = yield* statement(id, "2026-02")
      for (const month of ["2026-01", "2026-02", "2026-03"]) yield* deposit(id, 1, `${month}-12T11:11:11`)
      const others = [
        yield* statement(id, "2026-01"),
        yield* statement(id, "2026-02"),
        yield* statement(id, "2026-03")
      ]
      assert.deepStrictEqual(
        others.map(({ isFinal, closing }) => [isFinal, closing.posted]),
        [10, 20, 30].map((sats) => [true, Msat.fromSats(sats)])
      )
      assert.deepStrictEqual(others[1], told)
      assert.deepStrictEqual((yield* statement(id, "2026-04")).late.deposits, {
        amount: Msat.fromSats(3),
        count: 3
      })
      assert.strictEqual((yield* (yield* Records).booksClosed(id)).number, 1)
      yield* TestClock.setTime(at("2026-05-01T00:05:00"))
      const april = yield* statement(id, "2026-04")
      yield* deposit(id, 5, "2026-04-30T23:59:59")
      assert.deepStrictEqual([april.isFinal, yield* statement(id, "2026-04")], [true, april])
      yield* chained(id, ["2026-01", "2026-02", "2026-03", "2026-04", "2026-05"])
    }
  )

  const suspended = Deferred.makeUnsafe<void>()
  let closings = 0
  scenario(
    "statement: if two requests close a month concurrently and one is suspended between read and close, the month is closed once and both return the same statement",
    {
      ...pending,
      change: replace(Journal, ({ commit }) => ({
        commit: (change) =>
          change._tag === "MonthsClosed" && closings++ === 0
            ? Effect.andThen(Deferred.await(suspended), commit(change))
            : commit(change)
      }))
    },
    function* () {
      const { id } = yield* company()
      yield* TestClock.setTime(at("2026-02-01T00:05:00"))
      yield* deposit(id, 100, "2026-01-20T10:00:00")
      const first = yield* Effect.forkChild(statement(id, "2026-01"), { startImmediately: true })
      yield* deposit(id, 7, "2026-01-31T23:59:58")
      yield* TestClock.setTime(at("2026-03-01T00:05:00"))
      const told = yield* statement(id, "2026-01")
      assert.strictEqual(told.closing.posted, Msat.fromSats(107))
      yield* Deferred.succeed(suspended, undefined)
      assert.deepStrictEqual(yield* Fiber.join(first), told)
      assert.deepStrictEqual(yield* statement(id, "2026-01"), told)
      const ends = yield* (yield* NounReads).newestFirst(MonthEnd.noun, id, null, 10)
      assert.deepStrictEqual(
        ends.map(({ number, untilMillis }) => [number, untilMillis]),
        [[1, at("2026-03-01T00:00:00")]]
      )
      assert.strictEqual(closings, 2)
    }
  )
})
