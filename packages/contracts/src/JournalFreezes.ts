import { assert } from "@effect/vitest"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import type { Records } from "@satrail/core/service/Records"
import { Effect } from "effect"
import type { Promises } from "./Contract.ts"
import { frozen } from "./Freezing.ts"
import { companyWith, once, tally, unchanged, verdict, withdrawal } from "./Fixtures.ts"
import { all } from "./features/index.ts"
import { has } from "./Ledger.ts"

/** Guarantees about the Changes that a freeze blocks. */
export const money = {
  "freeze: a Change applied before the freeze can still be repeated, and another company is not affected": Effect.gen(function* () {
    const [companyId, other] = [yield* companyWith(100), yield* companyWith(100)]
    const asked = Withdrawal.requested(yield* withdrawal(companyId, 5), once(companyId, "k"))
    const plain = Withdrawal.requested(yield* withdrawal(companyId, 5))
    const others = yield* Effect.forEach(all, ({ spends = [] }) => Effect.forEach(spends, (spend) => spend(companyId, 5)))
    for (const change of [asked, plain, ...others.flat()]) assert.strictEqual(yield* verdict(change), "Applied")
    assert.strictEqual(yield* frozen(companyId), "Applied")
    assert.strictEqual(yield* unchanged(asked), "Replayed")
    for (const change of [plain, ...others.flat()]) assert.strictEqual(yield* unchanged(change), "Applied")
    assert.strictEqual(yield* verdict(Withdrawal.requested(yield* withdrawal(other, 5))), "Applied")
  }),
  "freeze: a withdrawal is refused the same way whether or not the balance covers it": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    assert.strictEqual(yield* frozen(companyId), "Applied")
    const asked = yield* Effect.forEach([1, 1000], (sats) => withdrawal(companyId, sats))
    const verdicts = yield* Effect.forEach(asked, (row) => verdict(Withdrawal.requested(row)), { concurrency: "unbounded" })
    assert.deepStrictEqual(verdicts, ["CompanyFrozen", "CompanyFrozen"])
  }),
  "freeze: no concurrent withdrawal is applied after the freeze": Effect.gen(function* () {
    const companyId = yield* companyWith(100_000)
    const asked = yield* Effect.forEach(Array.from({ length: 48 }), () => withdrawal(companyId, 10))
    const late: Array<string> = []
    let isAnswered = false
    const sent = Effect.forEach(
      asked,
      (row) =>
        Effect.suspend(() => {
          const isLate = isAnswered
          return Effect.tap(verdict(Withdrawal.requested(row)), (word) => Effect.sync(() => isLate && late.push(word)))
        }),
      { concurrency: 4 }
    )
    const halted = Effect.tap(frozen(companyId), () => Effect.sync(() => (isAnswered = true)))
    const [words] = yield* Effect.all([sent, halted], { concurrency: "unbounded" })
    const applied = tally(words)["Applied"] ?? 0
    assert.deepStrictEqual(new Set(late), new Set(late.length === 0 ? [] : ["CompanyFrozen"]))
    yield* has(companyId, { posted: 100_000, held: 10 * applied })
  })
} satisfies Promises<Journal | Records | Tasks>
