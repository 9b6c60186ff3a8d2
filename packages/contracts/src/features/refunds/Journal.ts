import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Deposit from "@satrail/core/receiving/Deposit"
import { Records } from "@satrail/core/service/Records"
import * as Refund from "@satrail/features/refunds/core/Refund"
import * as Voucher from "@satrail/features/vouchers/core/Voucher"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect } from "effect"
import { frozen } from "../../journal/Freezing.ts"
import type { Promises } from "../../Contract.ts"
import { companyWith, found, once, output, tally, unchanged, verdict, withdrawal } from "../../Fixtures.ts"
import { booked, has } from "../../Ledger.ts"
import { byLink, byPayment, credited } from "./Fixtures.ts"

const refundIn = ({ writes: [, { record }] }: Refund.RefundCreated) => record

const now = Effect.fnUntraced(function* ({ companyId, id }: Deposit.Deposit) {
  return yield* found((yield* Records).deposit(companyId, id))
})

const shown = Effect.fnUntraced(function* ({ companyId, id }: Refund.Refund) {
  return (yield* found((yield* Records).get(Refund.noun, companyId, id))).status
})

/**
 * Returns the violations in a company's refunds. Fixture invoices have no valid preimages, so `proof`
 * violations are ignored.
 */
const faultsOf = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
  return (yield* (yield* Records).faults(companyId)).filter(({ kind }) => kind !== "proof")
})

/** Cancels the refund's voucher, and returns the Change that must follow. */
const canceling = Effect.fnUntraced(function* (refund: Refund.Refund, paidBy: Voucher.Voucher) {
  const atMillis = refund.createdAtMillis + 1
  assert.strictEqual(yield* verdict(Voucher.canceled(paidBy, atMillis)), "Applied")
  const voucher = yield* found((yield* Records).get(Voucher.noun, paidBy.companyId, paidBy.id))
  return Refund.next(refund, { voucher, withdrawal: undefined }, atMillis) ?? assert.fail("nothing follows")
})

/**
 * Guarantees that refunds never exceed the amount received, however many are requested, and that an unpaid
 * refund loses no money.
 */
export const money = {
  "a listed refund payment has the refund's description; the refunded deposit does not": Effect.gen(
    function* () {
      const companyId = yield* companyWith(100)
      const deposit = yield* credited(companyId, 50)
      const { change, withdrawal: paidBy } = yield* byPayment(deposit, 20)
      assert.strictEqual(yield* verdict(change), "Applied")
      assert.strictEqual((yield* now(deposit)).refundId, refundIn(change).id)
      const lines = yield* (yield* Records).transactions(companyId, { limit: 10 })
      const described = new Map(lines.map(({ id, description }) => [id, description]))
      assert.deepStrictEqual([described.get(paidBy.id), described.get(deposit.id)], ["too much", ""])
    }
  ),
  "a refund reserves its part of the deposit and holds the money in one commit, once": Effect.gen(
    function* () {
      const companyId = yield* companyWith(100)
      const deposit = yield* credited(companyId, 50)
      const { change } = yield* byLink(deposit, 20)
      assert.deepStrictEqual(yield* booked(verdict(change)), { available: -20, held: 20 })
      const { refunded, refundId } = yield* now(deposit)
      assert.deepStrictEqual([refunded, refundId], [Msat.fromSats(20), refundIn(change).id])
      assert.deepStrictEqual(
        yield* found((yield* Records).get(Refund.noun, companyId, refundIn(change).id)),
        refundIn(change)
      )
      assert.strictEqual(yield* unchanged(change), "Applied")
      yield* has(companyId, { posted: 150, held: 20 })
    }
  ),
  "if 64 concurrent requests refund a whole deposit, exactly one is applied": Effect.gen(function* () {
    const companyId = yield* companyWith(1000)
    const deposit = yield* credited(companyId, 10)
    const all = yield* Effect.forEach(Array.from({ length: 64 }), () => byLink(deposit, 10))
    const verdicts = yield* Effect.forEach(all, ({ change }) => verdict(change), { concurrency: "unbounded" })
    assert.deepStrictEqual(tally(verdicts), { Applied: 1, DepositMoved: 63 })
    assert.deepStrictEqual(yield* faultsOf(companyId), [])
    assert.strictEqual((yield* now(deposit)).refunded, Msat.fromSats(10))
    yield* has(companyId, { posted: 1010, held: 10 })
  }),
  "any number of requests with the same key create only one refund": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const deposit = yield* credited(companyId, 40)
    const all = yield* Effect.forEach(Array.from({ length: 8 }), () => byLink(deposit, 5))
    const verdicts = yield* Effect.forEach(
      all,
      ({ change }) => verdict({ ...change, once: once(companyId, "k") }),
      {
        concurrency: "unbounded"
      }
    )
    assert.deepStrictEqual(tally(verdicts), { Applied: 1, Replayed: 7 })
    yield* has(companyId, { posted: 140, held: 5 })
  }),
  "a refund above the balance reserves no part of the deposit": Effect.gen(function* () {
    const companyId = yield* companyWith(10)
    const deposit = yield* credited(companyId, 50)
    const rest = yield* withdrawal(companyId, 40)
    assert.strictEqual(yield* verdict(Withdrawal.requested(rest)), "Applied")
    assert.strictEqual(yield* unchanged((yield* byLink(deposit, 30)).change), "InsufficientBalance")
    assert.strictEqual((yield* now(deposit)).refunded, Msat.zero)
    yield* has(companyId, { posted: 60, held: 40 })
  }),
  "a deposit that was never credited, or that a reorganization removed, cannot be refunded": Effect.gen(
    function* () {
      const companyId = yield* companyWith(100)
      const pending = yield* output(companyId, 50)
      assert.strictEqual(yield* verdict(Deposit.seen(pending)), "Applied")
      assert.strictEqual(yield* unchanged((yield* byLink(pending, 10)).change), "DepositMoved")
      const deposit = yield* credited(companyId, 50)
      assert.strictEqual(
        yield* verdict(Deposit.reversed(deposit, Msat.zero, deposit.updatedAtMillis + 1)),
        "Applied"
      )
      assert.strictEqual(yield* unchanged((yield* byLink(deposit, 10)).change), "DepositMoved")
      yield* has(companyId, { posted: 100, held: 0 })
    }
  ),
  "canceling a refund returns its part to the deposit once, even if repeated eight times concurrently":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const deposit = yield* credited(companyId, 50)
      const [first, second] = [
        yield* byLink(deposit, 20),
        yield* byLink({ ...deposit, refunded: Msat.fromSats(20) }, 30)
      ]
      assert.strictEqual(yield* verdict(first.change), "Applied")
      assert.strictEqual(yield* verdict(second.change), "Applied")
      const refund = refundIn(first.change)
      const change = yield* canceling(refund, first.voucher)
      const verdicts = yield* Effect.forEach(Array.from({ length: 8 }), () => verdict(change), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(tally(verdicts), { Applied: 8 })
      assert.strictEqual(yield* unchanged(change), "Applied")
      assert.strictEqual(yield* shown(refund), "canceled")
      assert.strictEqual((yield* now(deposit)).refunded, Msat.fromSats(30))
      yield* has(companyId, { posted: 150, held: 30 })
    }),
  "refunds of one deposit that fail or are canceled concurrently return their total to the deposit":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const deposit = yield* credited(companyId, 50)
      const all = yield* Effect.forEach(
        Array.from({ length: 10 }, (_, n) => n),
        Effect.fnUntraced(function* (n) {
          const { change, voucher } = yield* byLink({ ...deposit, refunded: Msat.fromSats(n * 5) }, 5)
          assert.strictEqual(yield* verdict(change), "Applied")
          return yield* canceling(refundIn(change), voucher)
        })
      )
      assert.strictEqual((yield* now(deposit)).refunded, Msat.fromSats(50))
      yield* Effect.forEach(all.slice(0, 8), verdict, { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* faultsOf(companyId), [])
      assert.strictEqual((yield* now(deposit)).refunded, Msat.fromSats(10))
      yield* has(companyId, { posted: 150, held: 0 })
    }),
  "a checkout's refunds are listed newest first, without canceled refunds or other checkouts' refunds":
    Effect.gen(function* () {
      const records = yield* Records
      const [companyId, otherId] = [yield* companyWith(100), yield* companyWith(100)]
      const [checkoutId, another] = [yield* Id.make, yield* Id.make]
      const make = Effect.fnUntraced(function* (
        company: CompanyId.CompanyId,
        of: string | null,
        sealedLink: string | null
      ) {
        const made = yield* byLink(yield* credited(company, 10), 5, { checkoutId: of, sealedLink })
        assert.strictEqual(yield* verdict(made.change), "Applied")
        return made
      })
      const [first, gone, last] = [
        yield* make(companyId, checkoutId, "sealed-1:a"),
        yield* make(companyId, checkoutId, "sealed-1:b"),
        yield* make(companyId, checkoutId, null)
      ]
      const theirs = yield* make(otherId, checkoutId, "sealed-1:c")
      yield* make(companyId, another, "sealed-1:d")
      yield* make(companyId, null, null)
      assert.strictEqual(yield* verdict(yield* canceling(refundIn(gone.change), gone.voucher)), "Applied")
      const newest = [first, last]
        .map(({ change }) => refundIn(change))
        .toSorted((a, b) => (a.id < b.id ? 1 : -1))
      assert.deepStrictEqual(yield* records.refundsOf(companyId, checkoutId, 10), newest)
      assert.deepStrictEqual(yield* records.refundsOf(companyId, checkoutId, 1), newest.slice(0, 1))
      assert.deepStrictEqual(yield* records.refundsOf(otherId, checkoutId, 10), [refundIn(theirs.change)])
      assert.deepStrictEqual(yield* records.refundsOf(companyId, yield* Id.make, 10), [])
    }),
  "a deposit's refunds are listed newest first with canceled ones, and only to its company": Effect.gen(
    function* () {
      const records = yield* Records
      const [companyId, otherId] = [yield* companyWith(100), yield* companyWith(100)]
      const deposit = yield* credited(companyId, 10)
      const makes = Effect.fnUntraced(function* (n: number) {
        const made = yield* byLink({ ...deposit, refunded: Msat.fromSats(n) }, 1)
        assert.strictEqual(yield* verdict(made.change), "Applied")
        return made
      })
      const first = yield* makes(0)
      const all = [first, yield* makes(1), yield* makes(2)]
      assert.strictEqual(yield* verdict((yield* byLink(yield* credited(companyId, 10), 1)).change), "Applied")
      const gone = yield* canceling(refundIn(first.change), first.voucher)
      assert.strictEqual(yield* verdict(gone), "Applied")
      const ids = all
        .map(({ change }) => refundIn(change).id)
        .toSorted()
        .toReversed()
      const page = (company: CompanyId.CompanyId, before: string | null, limit: number) =>
        Effect.map(records.ofDeposit(company, deposit.id, before, limit), (rows) => rows.map(({ id }) => id))
      assert.deepStrictEqual(yield* page(companyId, null, 10), ids)
      assert.deepStrictEqual(yield* page(companyId, null, 2), ids.slice(0, 2))
      assert.deepStrictEqual(yield* page(companyId, ids[1] ?? null, 2), ids.slice(2))
      assert.deepStrictEqual(yield* page(otherId, null, 10), [])
    }
  ),
  "a deposit whose refunded amount differs from the sum of its refunds is a violation": Effect.gen(
    function* () {
      const companyId = yield* companyWith(100)
      const deposit = yield* credited(companyId, 50)
      const { change } = yield* byLink({ ...deposit, refunded: Msat.zero }, 20)
      const [moved, made, paidBy] = change.writes
      const noted = { ...moved, set: { ...moved.set, refunded: Msat.fromSats(19) } }
      assert.strictEqual(yield* verdict({ ...change, writes: [noted, made, paidBy] }), "Applied")
      assert.deepStrictEqual(yield* faultsOf(companyId), [
        {
          kind: "refunded",
          id: deposit.id,
          account: null,
          expected: Msat.fromSats(20),
          found: Msat.fromSats(19)
        }
      ])
    }
  ),
  "a refund completes when its payment settles, and returns its part to the deposit when the payment fails":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const deposit = yield* credited(companyId, 50)
      for (const [n, status] of (["settled", "failed"] as const).entries()) {
        const { change, withdrawal } = yield* byPayment({ ...deposit, refunded: Msat.fromSats(n * 20) }, 20)
        assert.strictEqual(yield* verdict(change), "Applied")
        const paid = { voucher: undefined, withdrawal: { ...withdrawal, status } }
        const next =
          Refund.next(refundIn(change), paid, withdrawal.createdAtMillis + 1) ??
          assert.fail("nothing follows")
        assert.strictEqual(yield* verdict(next), "Applied")
        assert.strictEqual(yield* unchanged(next), "Applied")
        assert.strictEqual(yield* shown(refundIn(change)), status === "settled" ? "completed" : "failed")
      }
      assert.strictEqual((yield* now(deposit)).refunded, Msat.fromSats(20))
    }),
  "freeze: a refund is refused until the freeze ends, and reserves no part of its deposit": Effect.gen(
    function* () {
      const companyId = yield* companyWith(100)
      const deposit = yield* credited(companyId, 50)
      const { change } = yield* byLink(deposit, 20)
      assert.strictEqual(yield* frozen(companyId), "Applied")
      assert.strictEqual(yield* unchanged(change), "CompanyFrozen")
      assert.strictEqual((yield* found((yield* Records).deposit(companyId, deposit.id))).refunded, 0n)
      assert.strictEqual(yield* frozen(companyId, null), "Applied")
      assert.strictEqual(yield* verdict(change), "Applied")
    }
  )
} satisfies Promises<Journal | Records | Tasks>
