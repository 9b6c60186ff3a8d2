import { assert } from "@effect/vitest"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as SuspenseAssignment from "@satrail/core/receiving/SuspenseAssignment"
import * as Invoice from "@satrail/core/receiving/Invoice"
import { Records } from "@satrail/core/service/Records"
import { Effect, Option } from "effect"
import type { Promises } from "../Contract.ts"
import { arrival, found, open, stray, tally, unchanged, verdict } from "../Fixtures.ts"
import { booked, has } from "../Ledger.ts"

/** A company with a payment in suspense. */
const suspended = Effect.fnUntraced(function* (sats: number) {
  const companyId = yield* open
  const row = yield* stray(companyId, sats)
  assert.strictEqual(yield* verdict(Invoice.unmatched(row)), "Applied")
  return { companyId, row }
})

/** Guarantees about the outcome of payments in suspense. */
export const money = {
  "money in suspense is assigned to a company only once, as a deposit, and all companies' books stay correct":
    Effect.gen(function* () {
      const records = yield* Records
      for (const isOther of [false, true]) {
        const { companyId, row } = yield* suspended(30)
        const to = isOther ? yield* open : companyId
        const deposit = yield* arrival(to, 30)
        const change = SuspenseAssignment.assigned(row, deposit)
        assert.deepStrictEqual(yield* booked(verdict(change)), { suspense: -30, available: 30 })
        assert.deepStrictEqual(yield* found(records.deposit(to, deposit.id)), deposit)
        assert.strictEqual(yield* unchanged(change), "Applied")
        assert.strictEqual(
          yield* unchanged(SuspenseAssignment.assigned(row, yield* arrival(to, 30))),
          "AlreadyAssigned"
        )
        yield* has(to, { posted: 30, held: 0 })
        for (const one of [companyId, to]) assert.deepStrictEqual(yield* records.faults(one), [])
      }
    }),
  "if 64 concurrent requests assign one suspense item to two companies, only one request applies": Effect.gen(
    function* () {
      const { companyId, row } = yield* suspended(30)
      const companies = [companyId, yield* open]
      const all = yield* Effect.forEach(
        Array.from({ length: 64 }, (_, at) => companies[at % 2] ?? companyId),
        (to) => Effect.map(arrival(to, 30), (deposit) => SuspenseAssignment.assigned(row, deposit))
      )
      const verdicts = yield* Effect.forEach(all, verdict, { concurrency: "unbounded" })
      assert.deepStrictEqual(tally(verdicts), { Applied: 1, AlreadyAssigned: 63 })
      const balances = yield* Effect.forEach(companies, (yield* Records).balance)
      assert.deepStrictEqual(balances.map(({ posted }) => Number(posted / 1000n)).toSorted(), [0, 30])
      for (const one of companies) assert.deepStrictEqual(yield* (yield* Records).faults(one), [])
    }
  )
} satisfies Promises<Journal | Records | Tasks>

/** Guarantees about reading payments in suspense. */
export const other = {
  "a suspense item is found by its id alone, and items are listed newest first": Effect.gen(function* () {
    const records = yield* Records
    const atMillis = 1_900_000_000_000
    const rows = yield* Effect.forEach([1, 2, 2], (after) =>
      Effect.map(suspended(30), ({ row }) => ({ ...row, createdAtMillis: atMillis + after }))
    )
    for (const one of rows)
      assert.strictEqual(
        yield* verdict(Invoice.unmatched({ ...one, id: one.id.replace(/^./, "f") })),
        "Applied"
      )
    const all = rows.map((one) => ({ ...one, id: one.id.replace(/^./, "f") }))
    const [first] = all
    assert.deepStrictEqual(yield* found(records.unmatchedById(first?.id ?? "")), first)
    assert.isTrue(
      Option.isNone(yield* records.unmatchedById(yield* Effect.map(stray(yield* open, 1), ({ id }) => id)))
    )
    const sorted = all.toSorted((a, b) => b.createdAtMillis - a.createdAtMillis || (a.id < b.id ? 1 : -1))
    const page = yield* records.suspended(null, 2)
    assert.deepStrictEqual(page, sorted.slice(0, 2))
    assert.deepStrictEqual(yield* records.suspended(page.at(-1) ?? null, 1), sorted.slice(2))
    const [newest, ...others] = sorted
    assert(newest !== undefined)
    yield* verdict(SuspenseAssignment.assigned(newest, yield* arrival(newest.companyId, 30)))
    assert.deepStrictEqual(yield* records.suspended(null, 1, "assigned"), [newest])
    assert.deepStrictEqual(yield* records.suspended(null, 2, "open"), others)
  })
} satisfies Promises<Journal | Records | Tasks>
