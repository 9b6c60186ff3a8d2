import { assert } from "@effect/vitest"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as Company from "@satrail/core/accounts/Company"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Records } from "@satrail/core/service/Records"
import { Effect } from "effect"
import type { Promises } from "../Contract.ts"
import { frozen } from "./Freezing.ts"
import { apiKey, companyWith, found, once, open, tally, unchanged, verdict, withdrawal } from "../Fixtures.ts"
import { all } from "../features/index.ts"
import { has } from "../Ledger.ts"

/** Guarantees about the Changes that a freeze blocks, and about changes of the freeze and other protection. */
export const money = {
  "freeze: a Change applied before the freeze can still be repeated, and another company is not affected":
    Effect.gen(function* () {
      const [companyId, other] = [yield* companyWith(100), yield* companyWith(100)]
      const asked = Withdrawal.requested(yield* withdrawal(companyId, 5), once(companyId, "k"))
      const plain = Withdrawal.requested(yield* withdrawal(companyId, 5))
      const others = yield* Effect.forEach(all, ({ spends = [] }) =>
        Effect.forEach(spends, (spend) => spend(companyId, 5))
      )
      for (const change of [asked, plain, ...others.flat()])
        assert.strictEqual(yield* verdict(change), "Applied")
      assert.strictEqual(yield* frozen(companyId), "Applied")
      assert.strictEqual(yield* unchanged(asked), "Replayed")
      for (const change of [plain, ...others.flat()]) assert.strictEqual(yield* unchanged(change), "Applied")
      assert.strictEqual(yield* verdict(Withdrawal.requested(yield* withdrawal(other, 5))), "Applied")
    }),
  "freeze: a withdrawal is refused the same way whether or not the balance covers it": Effect.gen(
    function* () {
      const companyId = yield* companyWith(100)
      assert.strictEqual(yield* frozen(companyId), "Applied")
      const asked = yield* Effect.forEach([1, 1000], (sats) => withdrawal(companyId, sats))
      const verdicts = yield* Effect.forEach(asked, (row) => verdict(Withdrawal.requested(row)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(verdicts, ["CompanyFrozen", "CompanyFrozen"])
    }
  ),
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
          return Effect.tap(verdict(Withdrawal.requested(row)), (word) =>
            Effect.sync(() => isLate && late.push(word))
          )
        }),
      { concurrency: 4 }
    )
    const halted = Effect.tap(frozen(companyId), () => Effect.sync(() => (isAnswered = true)))
    const [words] = yield* Effect.all([sent, halted], { concurrency: "unbounded" })
    const applied = tally(words)["Applied"] ?? 0
    assert.deepStrictEqual(new Set(late), new Set(late.length === 0 ? [] : ["CompanyFrozen"]))
    yield* has(companyId, { posted: 100_000, held: 10 * applied })
  }),
  "a change of limits, IP ranges or the freeze that was based on others is refused, unless it changes nothing":
    Effect.gen(function* () {
      const companyId = yield* open
      const records = yield* Records
      const [limits, tighter] = [{ daySats: 5, recipients: ["ada@example.com"] }, { daySats: 4 }]
      const [ranges, narrower] = [
        { for: "sending", ranges: ["203.0.113.0/24"] } as const,
        { for: "sending", ranges: ["203.0.113.7"] } as const
      ]
      const drill = { reason: "a drill", pending: "wait" as const, sinceMillis: 1 }
      const row = yield* apiKey(companyId, { limits, allowedFrom: ranges })
      yield* verdict(ApiKey.issued(row))
      assert.strictEqual(yield* verdict(ApiKey.limited(row, tighter, 2)), "Applied")
      assert.strictEqual(yield* verdict(ApiKey.confined(row, narrower, 2)), "Applied")
      for (const change of [ApiKey.limited(row, null, 3), ApiKey.confined(row, null, 3)])
        assert.strictEqual(yield* unchanged(change), "ProtectionMoved")
      for (const change of [ApiKey.limited(row, tighter, 3), ApiKey.confined(row, narrower, 3)])
        assert.strictEqual(yield* unchanged(change), "Applied")
      const before = yield* found(records.company(companyId))
      const limit = (to: Company.Company["limits"], expects: Company.Company["limits"]) => ({
        ...Company.limited(companyId, to, 2),
        expects: { limits: expects }
      })
      const change = (to: Company.Company["frozen"], expects: Company.Company["frozen"]) => ({
        ...Company.freezeChanged(companyId, to, 2),
        expects: { frozen: expects }
      })
      assert.strictEqual(yield* verdict(limit(limits, before.limits)), "Applied")
      // The same limits with their members in another order.
      assert.strictEqual(
        yield* verdict(limit(tighter, { recipients: limits.recipients, daySats: 5 })),
        "Applied"
      )
      assert.strictEqual(yield* unchanged(limit(null, limits)), "ProtectionMoved")
      assert.strictEqual(yield* unchanged(limit(tighter, limits)), "Applied")
      assert.strictEqual(yield* unchanged(change(null, drill)), "Applied")
      assert.strictEqual(yield* verdict(change(drill, null)), "Applied")
      assert.strictEqual(yield* unchanged(change({ ...drill, pending: "go_on" }, null)), "ProtectionMoved")
      assert.strictEqual(yield* unchanged(change(null, null)), "ProtectionMoved")
      assert.strictEqual(yield* verdict(change(null, drill)), "Applied")
      yield* has(companyId, { posted: 0, held: 0 })
    })
} satisfies Promises<Journal | Records | Tasks>
