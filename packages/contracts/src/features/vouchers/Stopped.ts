import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Voucher from "@satrail/features/vouchers/core/Voucher"
import type { Journal } from "@satrail/core/ledger/Journal"
import * as Limit from "@satrail/core/ledger/Limit"
import { fence, Tasks } from "@satrail/core/ledger/Tasks"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import type { Storable } from "@satrail/core/service/Changes"
import { Records } from "@satrail/core/service/Records"
import { Effect } from "effect"
import { freeze, frozen } from "../../journal/Freezing.ts"
import type { Promises } from "../../Contract.ts"
import {
  begin,
  claim,
  companyWith,
  found,
  once,
  tally,
  unchanged,
  verdict,
  withdrawal
} from "../../Fixtures.ts"
import {
  atOnce,
  countsAt,
  keyWith,
  type Limited,
  midnight,
  sats,
  sending,
  times,
  usedBy
} from "../../journal/JournalLimits.ts"
import { has } from "../../Ledger.ts"
import { voucher } from "./Fixtures.ts"

const claiming = (row: Voucher.Voucher) =>
  Effect.map(Id.make, (id) =>
    Voucher.claimed(row, { id, recipient: "lnbcrt1…", network: "regtest" }, row.createdAtMillis)
  )

const giving = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  amount: number,
  atMillis: number,
  ...who: ReadonlyArray<Limited>
) {
  const counts = countsAt(who, atMillis)
  const row = yield* voucher(companyId, amount, {
    createdAtMillis: atMillis,
    expiresAtMillis: atMillis + 1000,
    counted: Limit.noted(counts)
  })
  return { row, change: Voucher.created(row, undefined, counts) }
})

/** Guarantees about how freezes and limits affect vouchers. */
export const money = {
  "freeze: withdrawals, vouchers and voucher claims are refused until the freeze ends; payments already sent still complete":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const begun = yield* begin(companyId, 10)
      const open = yield* voucher(companyId, 20)
      assert.strictEqual(yield* verdict(Voucher.created(open)), "Applied")
      const asked = Withdrawal.requested(yield* withdrawal(companyId, 5), once(companyId, "k"))
      const [given, claimed] = [Voucher.created(yield* voucher(companyId, 5)), yield* claiming(open)]
      assert.strictEqual(yield* frozen(companyId), "Applied")
      assert.deepStrictEqual((yield* found((yield* Records).company(companyId))).frozen, freeze)
      for (const change of [asked, given, claimed])
        assert.strictEqual(yield* unchanged(change), "CompanyFrozen")
      assert.strictEqual(
        yield* verdict(Withdrawal.failed(begun.withdrawal, "no_route", begun.fence, 1)),
        "Applied"
      )
      yield* has(companyId, { posted: 100, held: 20 })
      assert.strictEqual(yield* frozen(companyId, null), "Applied")
      assert.isNull((yield* found((yield* Records).company(companyId))).frozen)
      for (const change of [asked, given, claimed]) assert.strictEqual(yield* verdict(change), "Applied")
      yield* has(companyId, { posted: 100, held: 30 })
      assert.strictEqual(yield* frozen(companyId), "Applied")
      assert.strictEqual(
        yield* unchanged(claimed),
        "Applied",
        "the claim must have been applied before the freeze"
      )
    }),
  "limits: concurrent withdrawals and vouchers share a key's limit, and two keys share the company's":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100_000)
      const [one, other] = [yield* keyWith({ day_sats: sats(65) }), yield* keyWith({ day_sats: sats(1000) })]
      const company = { subject: companyId, most: { day_sats: sats(109) } }
      const changes = yield* Effect.forEach(times(48), (n): Effect.Effect<{ readonly change: Storable }> => {
        const key = n % 2 === 0 ? one : other
        return n % 3 === 0
          ? giving(companyId, 10, midnight, key, company)
          : sending(companyId, 10, midnight, key, company)
      })
      const verdicts = yield* Effect.forEach(changes, ({ change }) => verdict(change), atOnce)
      assert.deepStrictEqual(tally(verdicts), { Applied: 10, LimitExceeded: 38 })
      assert.isAtMost(Number(yield* usedBy(companyId, one, "day_sats", midnight)), 65_000)
      assert.strictEqual(yield* usedBy(companyId, company, "day_sats", midnight), sats(100))
      yield* has(companyId, { posted: 100_000, held: 100 })
    }),
  "limits: a voucher releases its usage when it is canceled or expires, or when its withdrawal fails":
    Effect.gen(function* () {
      const companyId = yield* companyWith(1000)
      const key = yield* keyWith({ day_sats: sats(100) })
      const left = Effect.map(
        usedBy(companyId, key, "day_sats", midnight),
        (used) => 100 - Number(Msat.toSats(Msat.make(used)))
      )
      const made = Effect.fnUntraced(function* () {
        const { row, change } = yield* giving(companyId, 70, midnight, key)
        assert.strictEqual(yield* verdict(change), "Applied")
        assert.strictEqual(yield* left, 30)
        return row
      })
      yield* verdict(Voucher.canceled(yield* made(), midnight + 1))
      assert.strictEqual(yield* left, 100)
      const expiring = yield* made()
      const due = yield* (yield* Tasks).claim({
        kind: Voucher.taskKind,
        nowMillis: expiring.expiresAtMillis,
        leaseMillis: 4_000_000_000_000,
        limit: 1000
      })
      const task = due.find(({ id }) => id === expiring.id)
      if (task === undefined) return assert.fail("no task")
      yield* verdict(Voucher.expired(expiring, fence(task), expiring.expiresAtMillis))
      assert.strictEqual(yield* left, 100)
      const to = { id: yield* Id.make, recipient: "lnbcrt1…", network: "regtest" } as const
      const claimed = Voucher.claimed(yield* made(), to, midnight + 3)
      assert.strictEqual(yield* verdict(claimed), "Applied")
      assert.strictEqual(yield* left, 30)
      const [, { record }] = claimed.writes
      const begun = yield* claim(record)
      assert.strictEqual(
        yield* verdict(Withdrawal.failed(record, "no_route", begun.fence, midnight + 4)),
        "Applied"
      )
      assert.strictEqual(yield* left, 100)
      yield* has(companyId, { posted: 1000, held: 0 })
    })
} satisfies Promises<Journal | Records | Tasks>
