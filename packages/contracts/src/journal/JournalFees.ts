import { assert } from "@effect/vitest"
import * as Company from "@satrail/core/accounts/Company"
import type { CompanyFees } from "@satrail/core/accounts/CompanyFees"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Records } from "@satrail/core/service/Records"
import { Effect } from "effect"
import type { Promises } from "../Contract.ts"
import { companyWith, found, once, tally, unchanged, verdict, withdrawal } from "../Fixtures.ts"
import { all } from "../features/index.ts"
import { has } from "../Ledger.ts"

const fees = {
  lightning: { baseMsat: 1, partsPerMillion: 10 },
  internal: { baseMsat: 0, partsPerMillion: 1_000_000 }
} satisfies CompanyFees
const atMillis = 1_700_000_000_000

const charged = (companyId: CompanyId.CompanyId, own: CompanyFees | null = fees) =>
  verdict(Company.feesChanged(companyId, own, atMillis))

const revisionOf = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
  return (yield* found((yield* Records).company(companyId))).feesRevision
})

/** Guarantees about the fees that a withdrawal holds. */
export const money = {
  "fees: a withdrawal computed with outdated fees is refused, and one computed with the current fees is applied":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const first = yield* revisionOf(companyId)
      const by = Effect.fnUntraced(function* (feesRevision: number) {
        const asked = Withdrawal.requested(
          yield* withdrawal(companyId, 5),
          once(companyId, `k${feesRevision}`),
          undefined,
          [],
          feesRevision
        )
        const others = yield* Effect.forEach(all, ({ spends = [] }) =>
          Effect.forEach(spends, (spend) => spend(companyId, 5))
        )
        return [asked, ...others.flat().map((change) => ({ ...change, feesRevision }))]
      })
      const before = yield* by(first)
      assert.strictEqual(yield* charged(companyId), "Applied")
      for (const one of before) assert.strictEqual(yield* unchanged(one), "FeesMoved")
      const now = yield* revisionOf(companyId)
      for (const one of yield* by(now)) assert.strictEqual(yield* verdict(one), "Applied")
      for (const one of before) assert.strictEqual(yield* verdict({ ...one, feesRevision: now }), "Applied")
    }),
  "fees: changing one company's fees affects neither another company nor a Change without a fee revision":
    Effect.gen(function* () {
      const [companyId, other] = [yield* companyWith(100), yield* companyWith(100)]
      const revision = yield* revisionOf(other)
      assert.strictEqual(yield* charged(companyId), "Applied")
      const [own, theirs, none] = [
        yield* withdrawal(companyId, 5),
        yield* withdrawal(other, 5),
        yield* withdrawal(companyId, 5)
      ]
      const verdicts = yield* Effect.forEach(
        [
          Withdrawal.requested(own, undefined, undefined, [], revision),
          Withdrawal.requested(theirs, undefined, undefined, [], revision),
          Withdrawal.requested(none)
        ],
        verdict,
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(verdicts, ["FeesMoved", "Applied", "Applied"])
      yield* has(other, { posted: 100, held: 5 })
      assert.isNull((yield* found((yield* Records).company(other))).fees)
    }),
  "fees: a withdrawal applied before a fee change can still be repeated after the change": Effect.gen(
    function* () {
      const companyId = yield* companyWith(100)
      const revision = yield* revisionOf(companyId)
      const plain = Withdrawal.requested(yield* withdrawal(companyId, 5), undefined, undefined, [], revision)
      const asked = Withdrawal.requested(
        yield* withdrawal(companyId, 5),
        once(companyId, "k"),
        undefined,
        [],
        revision
      )
      for (const one of [plain, asked]) assert.strictEqual(yield* verdict(one), "Applied")
      assert.strictEqual(yield* charged(companyId), "Applied")
      assert.deepStrictEqual(yield* Effect.forEach([plain, asked], (one) => unchanged(one)), [
        "Applied",
        "Replayed"
      ])
    }
  ),
  "fees: changing the plan or the fees increments the revision; setting the same values again does not":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const steps = [
        [Company.planChanged(companyId, "paid", atMillis), 1],
        [Company.planChanged(companyId, "paid", atMillis), 0],
        [Company.feesChanged(companyId, fees, atMillis), 1],
        [Company.feesChanged(companyId, fees, atMillis), 0],
        [Company.feesChanged(companyId, null, atMillis), 1],
        [Company.limited(companyId, { daySats: 1 }, atMillis), 0]
      ] as const
      for (const [change, more] of steps) {
        const before = yield* revisionOf(companyId)
        assert.strictEqual(yield* verdict(change), "Applied")
        const after = yield* revisionOf(companyId)
        assert.strictEqual(after, before + more)
        const row = yield* withdrawal(companyId, 1)
        assert.strictEqual(
          yield* verdict(Withdrawal.requested(row, undefined, undefined, [], after)),
          "Applied",
          "the balance has the same revision"
        )
      }
    }),
  "fees: a fee change computed from fees that changed meanwhile is refused, and changes no revision":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const change = (own: CompanyFees | null, before: CompanyFees | null) => ({
        ...Company.feesChanged(companyId, own, atMillis),
        expects: { fees: before }
      })
      assert.strictEqual(yield* verdict(change(fees, null)), "Applied")
      const revision = yield* revisionOf(companyId)
      const onChain: CompanyFees = { onChain: { baseMsat: 1, partsPerMillion: 0 } }
      assert.strictEqual(yield* unchanged(change(onChain, null)), "ProtectionMoved")
      assert.strictEqual(yield* unchanged(change(null, onChain)), "ProtectionMoved")
      assert.strictEqual(yield* revisionOf(companyId), revision)
      const held = Withdrawal.requested(yield* withdrawal(companyId, 1), undefined, undefined, [], revision)
      assert.strictEqual(yield* verdict(held), "Applied", "the balance has the same revision")
      // The same fees with their members in another order.
      assert.strictEqual(
        yield* verdict(change(onChain, { internal: fees.internal, lightning: fees.lightning })),
        "Applied"
      )
    }),
  "fees: after a fee change no concurrent withdrawal is applied with the old fees": Effect.gen(function* () {
    const companyId = yield* companyWith(100_000)
    const revision = yield* revisionOf(companyId)
    const asked = yield* Effect.forEach(Array.from({ length: 48 }), () => withdrawal(companyId, 10))
    const late: Array<string> = []
    let isAnswered = false
    const sent = Effect.forEach(
      asked,
      (row) =>
        Effect.suspend(() => {
          const isLate = isAnswered
          const change = Withdrawal.requested(row, undefined, undefined, [], revision)
          return Effect.tap(verdict(change), (word) => Effect.sync(() => isLate && late.push(word)))
        }),
      { concurrency: 4 }
    )
    const changed = Effect.tap(charged(companyId), () => Effect.sync(() => (isAnswered = true)))
    const [words] = yield* Effect.all([sent, changed], { concurrency: "unbounded" })
    assert.deepStrictEqual(new Set(late), new Set(late.length === 0 ? [] : ["FeesMoved"]))
    yield* has(companyId, { posted: 100_000, held: 10 * (tally(words)["Applied"] ?? 0) })
  })
} satisfies Promises<Journal | Records | Tasks>

/** Guarantees about reading fees. */
export const other = {
  "fees: reading a company or one of its keys returns the company's custom fees as committed": Effect.gen(
    function* () {
      const companyId = yield* companyWith(100)
      for (const own of [fees, {}, { onChain: { baseMsat: 0, partsPerMillion: 0 } }, null]) {
        assert.strictEqual(yield* charged(companyId, own), "Applied")
        assert.deepStrictEqual((yield* found((yield* Records).company(companyId))).fees, own)
      }
    }
  )
} satisfies Promises<Journal | Records | Tasks>
