import { assert } from "@effect/vitest"
import * as Company from "@satrail/core/accounts/Company"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Voucher from "@satrail/core/features/vouchers/Voucher"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Records } from "@satrail/core/service/Records"
import { Effect } from "effect"
import type { Promises } from "./Contract.ts"
import { begin, companyWith, found, once, tally, unchanged, verdict, withdrawal } from "./Fixtures.ts"
import { voucher } from "./features/vouchers/Fixtures.ts"
import { byLink, credited } from "./JournalRefunds.ts"
import { has } from "./Ledger.ts"

const freeze = { reason: 'café ☕ "', pending: "wait", sinceMillis: 1_700_000_000_000 } as const

const frozen = (companyId: CompanyId.CompanyId, how: Company.Company["frozen"] = freeze) =>
  verdict(Company.freezeChanged(companyId, how, freeze.sinceMillis))

const claiming = (row: Voucher.Voucher) =>
  Effect.map(Id.make, (id) => Voucher.claimed(row, { id, recipient: "lnbcrt1…", network: "regtest" }, row.createdAtMillis))

/** What a freeze of its company refuses. */
export const money = {
  "freeze: withdrawals, vouchers and their claims are refused until it ends; what was on its way ends as it must": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const begun = yield* begin(companyId, 10)
    const open = yield* voucher(companyId, 20)
    assert.strictEqual(yield* verdict(Voucher.created(open)), "Applied")
    const asked = Withdrawal.requested(yield* withdrawal(companyId, 5), once(companyId, "k"))
    const [given, claimed] = [Voucher.created(yield* voucher(companyId, 5)), yield* claiming(open)]
    assert.strictEqual(yield* frozen(companyId), "Applied")
    assert.deepStrictEqual((yield* found((yield* Records).company(companyId))).frozen, freeze)
    for (const change of [asked, given, claimed]) assert.strictEqual(yield* unchanged(change), "CompanyFrozen")
    assert.strictEqual(yield* verdict(Withdrawal.failed(begun.withdrawal, "no_route", begun.fence, 1)), "Applied")
    yield* has(companyId, { posted: 100, held: 20 })
    assert.strictEqual(yield* frozen(companyId, null), "Applied")
    assert.isNull((yield* found((yield* Records).company(companyId))).frozen)
    for (const change of [asked, given, claimed]) assert.strictEqual(yield* verdict(change), "Applied")
    yield* has(companyId, { posted: 100, held: 30 })
  }),
  "freeze: a refund is refused until it ends, and takes nothing of its deposit": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const deposit = yield* credited(companyId, 50)
    const { change } = yield* byLink(deposit, 20)
    assert.strictEqual(yield* frozen(companyId), "Applied")
    assert.strictEqual(yield* unchanged(change), "CompanyFrozen")
    assert.strictEqual((yield* found((yield* Records).deposit(companyId, deposit.id))).refunded, 0n)
    assert.strictEqual(yield* frozen(companyId, null), "Applied")
    assert.strictEqual(yield* verdict(change), "Applied")
  }),
  "freeze: what was applied before is applied and replayed still, and another company is not frozen by it": Effect.gen(function* () {
    const [companyId, other] = [yield* companyWith(100), yield* companyWith(100)]
    const asked = Withdrawal.requested(yield* withdrawal(companyId, 5), once(companyId, "k"))
    const plain = Withdrawal.requested(yield* withdrawal(companyId, 5))
    const open = yield* voucher(companyId, 20)
    const claimed = yield* claiming(open)
    for (const change of [asked, plain, Voucher.created(open), claimed]) assert.strictEqual(yield* verdict(change), "Applied")
    assert.strictEqual(yield* frozen(companyId), "Applied")
    assert.deepStrictEqual(yield* Effect.forEach([asked, plain, claimed], (change) => unchanged(change)), [
      "Replayed",
      "Applied",
      "Applied"
    ])
    assert.strictEqual(yield* verdict(Withdrawal.requested(yield* withdrawal(other, 5))), "Applied")
  }),
  "freeze: money that it is too little for, and money that there is, are refused alike": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    assert.strictEqual(yield* frozen(companyId), "Applied")
    const asked = yield* Effect.forEach([1, 1000], (sats) => withdrawal(companyId, sats))
    const verdicts = yield* Effect.forEach(asked, (row) => verdict(Withdrawal.requested(row)), { concurrency: "unbounded" })
    assert.deepStrictEqual(verdicts, ["CompanyFrozen", "CompanyFrozen"])
  }),
  "freeze: of withdrawals at the same time none is applied after it was": Effect.gen(function* () {
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
