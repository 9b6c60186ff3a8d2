import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Adjustment from "@satrail/features/adjustments/core/Adjustment"
import type { Operator } from "@satrail/core/accounts/SecondOperator"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import type { Transaction } from "@satrail/core/reports/Transaction"
import { Records } from "@satrail/core/service/Records"
import { Effect } from "effect"
import type { Promises } from "../../Contract.ts"
import { companyWith, found, open, tally, unchanged, verdict } from "../../Fixtures.ts"
import { booked, has } from "../../Ledger.ts"
import { adjustment, approved, bob } from "./Fixtures.ts"

const eve: Operator = { id: "eve", name: "Eve" }

const asked = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, sats: number) {
  const row = yield* adjustment(companyId, sats)
  assert.strictEqual(yield* verdict(Adjustment.requested(row)), "Applied")
  return row
})

const read = Effect.fnUntraced(function* ({ id }: Adjustment.Adjustment) {
  return yield* found((yield* Records).adjustment(id))
})

/**
 * Returns the violations in the books, except one: the fixture invoice that funded the company has no valid
 * preimage.
 */
const faultsOf = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
  return (yield* (yield* Records).faults(companyId)).filter(({ kind }) => kind !== "proof")
})

/** Guarantees about adjustments, which need two operators. */
export const money = {
  "adjustment: no money moves before the approval; the approval posts the adjustment once, and the books balance":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const [more, less] = [yield* asked(companyId, 30), yield* asked(companyId, -50)]
      yield* has(companyId, { posted: 100, held: 0 })
      assert.deepStrictEqual(yield* booked(verdict(approved(more))), { adjustments: -30, available: 30 })
      assert.deepStrictEqual(yield* booked(verdict(approved(less))), { adjustments: 50, available: -50 })
      for (const one of [more, less]) assert.strictEqual(yield* unchanged(approved(one)), "Applied")
      yield* has(companyId, { posted: 80, held: 0 })
      assert.deepStrictEqual(yield* read(more), {
        ...more,
        status: "booked",
        decidedBy: "Bob",
        decidedAtMillis: more.createdAtMillis + 1
      })
      assert.deepStrictEqual(yield* faultsOf(companyId), [])
    }),
  "adjustment: if two operators send 64 concurrent approvals, exactly one posts the adjustment": Effect.gen(
    function* () {
      const companyId = yield* companyWith(100)
      const row = yield* asked(companyId, 30)
      const verdicts = yield* Effect.forEach(
        Array.from({ length: 64 }, (_, at) => approved(row, at % 2 === 0 ? bob : eve)),
        verdict,
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(tally(verdicts), { Applied: 64 })
      yield* has(companyId, { posted: 130, held: 0 })
      assert.deepStrictEqual(yield* faultsOf(companyId), [])
    }
  ),
  "adjustment: an adjustment is either approved or rejected, never both": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const [one, two] = [yield* asked(companyId, 30), yield* asked(companyId, 40)]
    const rejected = Adjustment.rejected(one, eve, one.createdAtMillis + 1)
    assert.strictEqual(yield* verdict(rejected), "Applied")
    assert.strictEqual(yield* unchanged(rejected), "Applied")
    assert.strictEqual(yield* unchanged(approved(one)), "AdjustmentDecided")
    assert.strictEqual(yield* verdict(approved(two)), "Applied")
    assert.strictEqual(
      yield* unchanged(Adjustment.rejected(two, eve, two.createdAtMillis + 1)),
      "AdjustmentDecided"
    )
    const raced = yield* Effect.forEach(Array.from({ length: 8 }), () => asked(companyId, 1))
    const verdicts = yield* Effect.forEach(
      raced.flatMap((row) => [approved(row), Adjustment.rejected(row, eve, row.createdAtMillis + 1)]),
      verdict,
      { concurrency: "unbounded" }
    )
    assert.deepStrictEqual(tally(verdicts), { Applied: 8, AdjustmentDecided: 8 })
    const rows = yield* Effect.forEach(raced, read)
    yield* has(companyId, { posted: 140 + rows.filter(({ status }) => status === "booked").length, held: 0 })
  }),
  "adjustment: the approval of a debit above the balance is refused, and the debit stays pending": Effect.gen(
    function* () {
      const companyId = yield* companyWith(100)
      const row = yield* asked(companyId, -101)
      assert.strictEqual(yield* unchanged(approved(row)), "InsufficientBalance")
      assert.strictEqual((yield* read(row)).status, "pending")
      assert.strictEqual(yield* verdict(approved(yield* asked(companyId, 1))), "Applied")
      assert.strictEqual(yield* verdict(approved(row)), "Applied")
      yield* has(companyId, { posted: 0, held: 0 })
    }
  ),
  "adjustment: verification finds a posting without a record and a posting that differs from its record":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const row = yield* asked(companyId, 30)
      const change = approved(row)
      const legs = [
        {
          companyId,
          postings: [{ from: "adjustments", to: "available", amount: Msat.fromSats(31) }] as const
        }
      ]
      assert.strictEqual(yield* verdict({ ...change, legs }), "Applied")
      assert.deepStrictEqual(
        (yield* faultsOf(companyId)).map(({ kind, id, account }) => [kind, id, account]).toSorted(),
        [
          ["transfer", row.ledgerTxId, "adjustments"],
          ["transfer", row.ledgerTxId, "available"]
        ]
      )
    })
} satisfies Promises<Journal | Records | Tasks>

/** Guarantees about reading adjustments. */
export const other = {
  "adjustment: adjustments are listed newest first and filtered by status; approved ones are among the company's transactions":
    Effect.gen(function* () {
      const records = yield* Records
      const atMillis = 1_950_000_000_000
      const companyId = yield* open
      const rows = yield* Effect.forEach([1, 2, 2], (after) =>
        adjustment(companyId, after, { createdAtMillis: atMillis + after })
      )
      for (const one of rows) assert.strictEqual(yield* verdict(Adjustment.requested(one)), "Applied")
      const sorted = rows.toSorted((a, b) => b.createdAtMillis - a.createdAtMillis || (a.id < b.id ? 1 : -1))
      const page = yield* records.adjustments({ after: null, limit: 2, status: null })
      assert.deepStrictEqual(page, sorted.slice(0, 2))
      assert.deepStrictEqual(
        yield* records.adjustments({ after: page.at(-1) ?? null, limit: 1, status: null }),
        sorted.slice(2)
      )
      const [, last] = sorted
      if (last === undefined) return assert.fail("three adjustments must have been requested")
      assert.deepStrictEqual(yield* records.transactions(companyId, { limit: 10 }), [])
      assert.strictEqual(yield* verdict(approved(last, bob, atMillis + 5)), "Applied")
      const [first] = yield* records.adjustments({ after: null, limit: 1, status: "booked" })
      assert.strictEqual(first?.id, last.id)
      const line: Transaction = {
        id: last.id,
        companyId,
        amount: last.amount,
        recipient: "",
        rail: null,
        type: "adjustment",
        fee: Msat.zero,
        status: "settled",
        reason: last.reason,
        metadata: {},
        failure: null,
        description: "",
        createdAtMillis: atMillis + 5
      }
      const by = (query: object) => records.transactions(companyId, { limit: 10, ...query })
      for (const query of [
        {},
        { type: "adjustment" },
        { status: "settled" },
        { createdAfterMillis: atMillis + 4 }
      ])
        assert.deepStrictEqual(yield* by(query), [line])
      for (const query of [
        { type: "deposit" },
        { status: "pending" },
        { rail: "lightning" },
        { createdAfterMillis: atMillis + 5 },
        { after: line }
      ])
        assert.deepStrictEqual(yield* by(query), [])
    })
} satisfies Promises<Journal | Records | Tasks>
