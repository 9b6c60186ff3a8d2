import { assert, describe, it } from "@effect/vitest"
import { curve } from "@satrail/bitcoin/Curve"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { vi } from "vitest"
import type { Company } from "../src/accounts/Company.ts"
import { Tasks } from "../src/ledger/Tasks.ts"
import { capacity } from "../src/sending/ConfirmedCache.ts"
import { PaymentWorker } from "../src/sending/PaymentWorker.ts"
import { SendingReads } from "../src/sending/SendingReads.ts"
import * as Withdrawal from "../src/sending/Withdrawal.ts"
import { Withdrawals } from "../src/sending/Withdrawals.ts"
import { companyWith, confirm, outside, type Ports, replace, run, standing, start, working } from "./World.ts"

/** Records which withdrawals are read by id. */
const watched = () => {
  const read: Array<string> = []
  const change = replace(SendingReads, (reads) => ({
    withdrawal: (companyId, id) => {
      read.push(id)
      return reads.withdrawal(companyId, id)
    }
  }))
  return { read, change }
}

const paid = (payer: Company) =>
  Effect.flatMap(outside({ sats: 1 }), ({ destination }) => confirm(payer, destination))

describe("Withdrawals that a process both confirms and pays", () => {
  it.effect("payment worker: a payment is not read again by the process that confirmed it", () => {
    const { read, change } = watched()
    return run({ change }, function* () {
      const payer = yield* companyWith(1000)
      yield* working()
      const row = yield* paid(payer)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(read, [])
      assert.strictEqual(yield* standing(row), "settled")
    })
  })

  it.effect(
    "payment worker: an invoice is decoded once for an estimate, and once to confirm and pay it",
    () =>
      run({}, function* () {
        const payer = yield* companyWith(1000)
        yield* working()
        const { destination } = yield* outside({ sats: 1 })
        const recover = yield* Effect.acquireRelease(
          Effect.sync(() => vi.spyOn(curve, "recover")),
          (spy) => Effect.sync(() => spy.mockRestore())
        )
        yield* (yield* Withdrawals).estimate({ company: payer, asked: undefined, destination })
        assert.strictEqual(recover.mock.calls.length, 1)
        const row = yield* confirm(payer, destination)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* standing(row), "settled")
        assert.strictEqual(recover.mock.calls.length, 2)
      })
  )

  it.effect("payment worker: a payment is read by another process that claims it", () => {
    const { read, change } = watched()
    return run({ change }, function* () {
      const payer = yield* companyWith(1000)
      yield* working(yield* start(yield* Effect.context<Ports>()))
      const row = yield* paid(payer)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(read, [row.id])
    })
  })

  it.effect(
    "payment worker: a payment is read again if another worker has claimed it before and may have sent it",
    () => {
      const { read, change } = watched()
      return run({ change }, function* () {
        const payer = yield* companyWith(1000)
        const row = yield* paid(payer)
        const whole = { limit: 1, perLane: 1, after: null, full: { companies: [], lanes: [] } }
        const [nowMillis, leaseMillis] = [yield* Clock.currentTimeMillis, 1000]
        yield* (yield* Tasks).claimInTurn({ kind: Withdrawal.taskKind, nowMillis, leaseMillis, ...whole })
        yield* working()
        yield* TestClock.adjust("2 seconds")
        assert.deepStrictEqual(read, [row.id])
        assert.strictEqual(yield* standing(row), "settled")
      })
    }
  )

  it.effect(
    "payment worker: if more payments are confirmed than the cache holds, the oldest are read again",
    () => {
      const { read, change } = watched()
      return run({ change }, function* () {
        const payer = yield* companyWith(10_000)
        const rows = yield* Effect.forEach(Array.from({ length: capacity + 3 }), () => paid(payer))
        const { step } = yield* PaymentWorker
        for (let steps = yield* step; steps > 0;) steps = yield* step
        assert.deepStrictEqual(
          read.toSorted(),
          rows
            .slice(0, 3)
            .map(({ id }) => id)
            .toSorted()
        )
        assert.deepStrictEqual([...new Set(yield* Effect.forEach(rows, standing))], ["settled"])
      })
    }
  )
})
