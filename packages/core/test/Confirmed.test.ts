import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Company } from "../src/accounts/Company.ts"
import { Tasks } from "../src/ledger/Tasks.ts"
import { kept } from "../src/sending/Confirmed.ts"
import { PaymentWorker } from "../src/sending/PaymentWorker.ts"
import { SendingReads } from "../src/sending/SendingReads.ts"
import * as Withdrawal from "../src/sending/Withdrawal.ts"
import { companyWith, confirm, outside, type Ports, replace, run, standing, start, working } from "./World.ts"

/** Notes which withdrawals are read by their id. */
const watched = () => {
  const read: Array<string> = []
  const change = replace(SendingReads, (reads) =>
    SendingReads.of({
      ...reads,
      withdrawal: (companyId, id) => {
        read.push(id)
        return reads.withdrawal(companyId, id)
      }
    })
  )
  return { read, change }
}

const paid = (payer: Company) => Effect.flatMap(outside({ sats: 1 }), ({ destination }) => confirm(payer, destination))

describe("What a process confirms and its node pays", () => {
  it.effect("payment worker: is not read back by the process that confirmed it", () => {
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

  it.effect("payment worker: is read by another process that takes it up", () => {
    const { read, change } = watched()
    return run({ change }, function* () {
      const payer = yield* companyWith(1000)
      yield* working(yield* start(yield* Effect.context<Ports>()))
      const row = yield* paid(payer)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(read, [row.id])
    })
  })

  it.effect("payment worker: is read where somebody has had it before, who may have sent it", () => {
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
  })

  it.effect("payment worker: of more than are kept the oldest are read", () => {
    const { read, change } = watched()
    return run({ change }, function* () {
      const payer = yield* companyWith(10_000)
      const rows = yield* Effect.forEach(Array.from({ length: kept + 3 }), () => paid(payer))
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
  })
})
