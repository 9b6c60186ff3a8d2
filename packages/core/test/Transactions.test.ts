import { assert, describe } from "@effect/vitest"
import type { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Transactions } from "../src/reports/Transactions.ts"
import { company, companyWith, confirm, outside, said, scenario, step } from "./World.ts"

describe("Lists of transactions", () => {
  scenario("transactions: pages list one company's transactions, newest first, without gaps or repeats", function* () {
    const { list } = yield* Transactions
    const [row, other] = [yield* companyWith(50_000), yield* companyWith(50_000)]
    for (let i = 0; i < 9; i++) {
      const to = yield* outside({ sats: 10 + i })
      yield* confirm(row, to.destination)
      if (i % 3 === 0) yield* TestClock.adjust(1000) // some are created in the same millisecond
    }
    yield* step
    const seen: Array<string> = []
    let after: { readonly createdAtMillis: number; readonly id: string } | undefined
    do {
      const page: Effect.Success<ReturnType<typeof list>> = yield* list(row.id, { limit: 3, ...(after !== undefined && { after }) })
      assert.isTrue(page.rows.length <= 3)
      seen.push(...page.rows.map(({ id }) => id))
      after = page.next
    } while (after !== undefined)
    const { rows: transactions } = yield* list(row.id, { limit: 1000 })
    assert.deepStrictEqual(
      seen,
      transactions.map(({ id }) => id)
    )
    assert.strictEqual(new Set(seen).size, 10)
    for (const [at, { createdAtMillis }] of transactions.entries())
      if (at > 0) assert.isTrue(createdAtMillis <= (transactions[at - 1]?.createdAtMillis ?? 0))
    assert.strictEqual((yield* list(other.id, { limit: 1000 })).rows.length, 1)
    assert.strictEqual((yield* list(row.id, { limit: 10 })).next, undefined)
    for (const limit of [0, -1, 1001, 1.5, NaN]) assert.strictEqual(yield* said(list(row.id, { limit })), "Invalid: limit")
  })

  scenario("C53: transactions: the list and its rows are not visible to other companies", function* () {
    const { withdrawal, deposit, list } = yield* Transactions
    const [row, other] = [yield* companyWith(5000), yield* company()]
    const sent = yield* confirm(row, (yield* outside({ sats: 100 })).destination)
    const [received] = (yield* list(row.id, { limit: 1, type: "deposit" })).rows
    assert.strictEqual((yield* withdrawal(row.id, sent.id)).id, sent.id)
    assert.strictEqual((yield* deposit(row.id, received?.id ?? "")).id, received?.id)
    for (const id of [sent.id, received?.id ?? "", "x", ""]) {
      assert.strictEqual(yield* said(withdrawal(other.id, id)), "NotFound")
      assert.strictEqual(yield* said(deposit(other.id, id)), "NotFound")
    }
  })
})
