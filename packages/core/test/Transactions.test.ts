import { assert, describe } from "@effect/vitest"
import { Transactions } from "../src/reports/Transactions.ts"
import { company, companyWith, confirm, outside, said, scenario } from "./World.ts"

describe("Lists of transactions", () => {
  scenario("C53: transactions: the list and its rows are not visible to other companies", function* () {
    const { withdrawal, deposit, list } = yield* Transactions
    const [row, other] = [yield* companyWith(5000), yield* company()]
    const sent = yield* confirm(row, (yield* outside({ sats: 100 })).destination)
    const [received] = (yield* list(row.id, { limit: 1, type: "deposit" })).rows
    assert.strictEqual((yield* withdrawal(row.id, sent.id)).id, sent.id)
    assert.strictEqual((yield* deposit(row.id, received?.id ?? "")).id, received?.id)
    assert.deepStrictEqual((yield* list(other.id, { limit: 1000 })).rows, [])
    for (const id of [sent.id, received?.id ?? "", "x", ""]) {
      assert.strictEqual(yield* said(withdrawal(other.id, id)), "NotFound")
      assert.strictEqual(yield* said(deposit(other.id, id)), "NotFound")
    }
  })
})
