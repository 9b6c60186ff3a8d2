import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import type { Journal } from "@satrail/core/ledger/Journal"
import * as Limit from "@satrail/core/ledger/Limit"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Records } from "@satrail/core/service/Records"
import { Effect } from "effect"
import type { Promises } from "../Contract.ts"
import { claim, companyWith, lightningAddress, tally, unchanged, verdict, withdrawal } from "../Fixtures.ts"
import { has } from "../Ledger.ts"

/** Midnight on 13 November 2001, when a bucket begins in every window. */
export const midnight =
  Math.floor(1_005_609_600_000 / Limit.windows.month.stepMillis) * Limit.windows.month.stepMillis

export const sats = Msat.fromSats

/** A key's limits. */
export const keyWith = (most: Limit.Most) => Effect.map(Id.make, (subject) => ({ subject, most }))
export type Limited = Effect.Success<ReturnType<typeof keyWith>>

export const countsAt = (who: ReadonlyArray<Limited>, atMillis: number): ReadonlyArray<Limit.Count> =>
  who.map((one) => ({ ...one, atMillis }))

/** A withdrawal at the given time by a key or company that has limits. */
export const sending = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  amount: number,
  atMillis: number,
  ...who: ReadonlyArray<Limited>
) {
  const counts = countsAt(who, atMillis)
  const row = yield* withdrawal(companyId, amount, {
    createdAtMillis: atMillis,
    counted: Limit.noted(counts)
  })
  return { row, change: Withdrawal.requested(row, undefined, undefined, counts) }
})

const send = Effect.fnUntraced(function* (...ask: Parameters<typeof sending>) {
  return yield* verdict((yield* sending(...ask)).change)
})

/** Returns the usage counted for the key or company in a window that ends at this time. */
export const usedBy = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  { subject }: Limited,
  name: Limit.Counted,
  atMillis: number
) {
  const spent = yield* (yield* Records).spent(companyId, subject)
  return Limit.used(spent, name, Limit.oldest(Limit.counted[name].window, atMillis))
})

export const times = (count: number) => Array.from({ length: count }, (_, n) => n)
export const atOnce = { concurrency: "unbounded" } as const

/** Guarantees about the amounts that a key or a company may send. */
export const money = {
  "limits: an amount that exactly reaches the limit is granted; one sat more is refused and changes nothing":
    Effect.gen(function* () {
      const companyId = yield* companyWith(1000)
      const key = yield* keyWith({ day_sats: sats(100) })
      assert.strictEqual(yield* send(companyId, 60, midnight, key), "Applied")
      assert.strictEqual(
        yield* unchanged((yield* sending(companyId, 41, midnight, key)).change),
        "LimitExceeded"
      )
      assert.strictEqual(yield* send(companyId, 40, midnight, key), "Applied")
      assert.strictEqual(
        yield* unchanged((yield* sending(companyId, 1, midnight + 1, key)).change),
        "LimitExceeded"
      )
      assert.strictEqual(yield* usedBy(companyId, key, "day_sats", midnight), sats(100))
      yield* has(companyId, { posted: 1000, held: 100 })
    }),
  "C12: limits: when 64 withdrawals run concurrently, only as many as fit the limit are applied": Effect.gen(
    function* () {
      const companyId = yield* companyWith(100_000)
      const key = yield* keyWith({ hour_sats: sats(109) })
      const asked = yield* Effect.forEach(times(64), () => sending(companyId, 10, midnight, key))
      const verdicts = yield* Effect.forEach(asked, ({ change }) => verdict(change), atOnce)
      assert.deepStrictEqual(tally(verdicts), { Applied: 10, LimitExceeded: 54 })
      yield* has(companyId, { posted: 100_000, held: 100 })
    }
  ),
  "limits: a withdrawal above the limit does not block a smaller one, even a concurrent one, and the balance is checked before the limit":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const key = yield* keyWith({ hour_sats: sats(50), day_sats: sats(90), day_count: 100n })
      const changes = yield* Effect.forEach([30, 51, 20, 200], (amount) =>
        sending(companyId, amount, midnight, key)
      )
      const verdicts = yield* Effect.forEach(changes, ({ change }) => verdict(change), atOnce)
      assert.deepStrictEqual(verdicts, ["Applied", "LimitExceeded", "Applied", "InsufficientBalance"])
      yield* has(companyId, { posted: 100, held: 50 })
    }),
  "limits: a key without limits is not restricted by another key's limits, and does not count toward them":
    Effect.gen(function* () {
      const companyId = yield* companyWith(1000)
      const key = yield* keyWith({ day_sats: sats(10) })
      assert.strictEqual(yield* send(companyId, 11, midnight, key), "LimitExceeded")
      assert.strictEqual(yield* send(companyId, 500, midnight), "Applied")
      assert.strictEqual(yield* send(companyId, 10, midnight, key), "Applied")
      yield* has(companyId, { posted: 1000, held: 510 })
    }),
  "limits: the maximum number of withdrawals per day applies regardless of their amounts": Effect.gen(
    function* () {
      const companyId = yield* companyWith(1000)
      const key = yield* keyWith({ day_count: 3n })
      const changes = yield* Effect.forEach(times(9), (n) => sending(companyId, n + 1, midnight, key))
      const verdicts = yield* Effect.forEach(changes, ({ change }) => verdict(change), atOnce)
      assert.deepStrictEqual(tally(verdicts), { Applied: 3, LimitExceeded: 6 })
    }
  ),
  "limits: of a Change with postings of two companies, only those of its own company are counted": Effect.gen(
    function* () {
      const [payer, payee] = [yield* companyWith(100), yield* companyWith(100)]
      const key = yield* keyWith({ day_sats: sats(50) })
      const amount = sats(10)
      const paying = Effect.gen(function* () {
        const { event: _, ...change } = LightningAddress.created(yield* lightningAddress(payer))
        return {
          ...change,
          transferId: yield* Id.make,
          legs: [
            { companyId: payer, postings: [{ from: "available", to: "internal", amount }] },
            { companyId: payee, postings: [{ from: "internal", to: "available", amount }] }
          ] as const,
          counts: countsAt([key], midnight)
        }
      })
      const changes = yield* Effect.forEach(times(10), () => paying)
      const verdicts = yield* Effect.forEach(changes, (change) => verdict(change), atOnce)
      assert.deepStrictEqual(tally(verdicts), { Applied: 5, LimitExceeded: 5 })
      assert.strictEqual(yield* usedBy(payer, key, "day_sats", midnight), sats(50))
      assert.strictEqual(yield* usedBy(payee, key, "day_sats", midnight), Msat.zero)
      yield* has(payer, { posted: 50, held: 0 })
      yield* has(payee, { posted: 150, held: 0 })
    }
  ),
  "limits: a repeated Change is counted once": Effect.gen(function* () {
    const companyId = yield* companyWith(1000)
    const key = yield* keyWith({ day_sats: sats(100) })
    const { change } = yield* sending(companyId, 60, midnight, key)
    const verdicts = yield* Effect.forEach(times(8), () => verdict(change), atOnce)
    assert.deepStrictEqual(tally(verdicts), { Applied: 8 })
    assert.strictEqual(yield* usedBy(companyId, key, "day_sats", midnight), sats(60))
    assert.strictEqual(yield* usedBy(companyId, key, "day_count", midnight), 1n)
  }),
  "limits: windows slide, so an amount becomes available again in the millisecond in which it leaves the window":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100_000)
      for (const name of Limit.names) {
        const { window, of } = Limit.counted[name]
        const { millis, stepMillis } = Limit.windows[window]
        const key = yield* keyWith({ [name]: of === "times" ? 1n : sats(10) })
        const atMillis = midnight + 5
        assert.strictEqual(yield* send(companyId, 10, atMillis, key), "Applied")
        const free = midnight + stepMillis + millis
        const spent = yield* (yield* Records).spent(companyId, key.subject)
        const [most, need] = of === "times" ? [1n, 1n] : [sats(10), sats(10)]
        assert.strictEqual(Limit.freesAtMillis(spent, name, most, need, atMillis), free, name)
        assert.strictEqual(yield* send(companyId, 10, atMillis + millis, key), "LimitExceeded", name)
        assert.strictEqual(yield* send(companyId, 10, free - 1, key), "LimitExceeded", name)
        assert.strictEqual(yield* send(companyId, 10, free, key), "Applied", name)
        assert.strictEqual(yield* send(companyId, 10, free + 1, key), "LimitExceeded", name)
      }
    }),
  "limits: a process whose clock is behind counts what another process recorded": Effect.gen(function* () {
    const companyId = yield* companyWith(1000)
    const key = yield* keyWith({ hour_sats: sats(100) })
    assert.strictEqual(yield* send(companyId, 70, midnight + 120_000, key), "Applied")
    assert.strictEqual(yield* send(companyId, 40, midnight, key), "LimitExceeded")
    assert.strictEqual(yield* send(companyId, 30, midnight, key), "Applied")
  }),
  "limits: after the clock was ahead, amounts sent before and after its correction all count": Effect.gen(
    function* () {
      const companyId = yield* companyWith(1000)
      for (const name of Limit.names) {
        const key = yield* keyWith({ [name]: name === "day_count" ? 3n : sats(30) })
        const aheadMillis = 2 * Limit.places * Limit.windows[Limit.counted[name].window].stepMillis
        const sent = [midnight + aheadMillis, midnight, midnight, midnight]
        const verdicts = yield* Effect.forEach(sent, (atMillis) => send(companyId, 10, atMillis, key))
        assert.deepStrictEqual(verdicts, ["Applied", "Applied", "Applied", "LimitExceeded"], name)
      }
    }
  ),
  "limits: reusing a bucket's slot keeps the amounts that are still in the window": Effect.gen(function* () {
    const companyId = yield* companyWith(100_000)
    const key = yield* keyWith({ hour_sats: sats(61) })
    const keyForAll = { ...key, most: { hour_sats: sats(1000) } }
    const { stepMillis } = Limit.windows.hour
    // One withdrawal per minute, for more than two cycles through all slots. An hour plus the current bucket
    // contains 61 of them.
    const changes = yield* Effect.forEach(times(2 * Limit.places + 3), (n) =>
      sending(companyId, 1, midnight + n * stepMillis, keyForAll)
    )
    for (let n = 0; n < changes.length; n += 40)
      yield* Effect.forEach(changes.slice(n, n + 40), ({ change }) => verdict(change), atOnce)
    const last = midnight + (2 * Limit.places + 2) * stepMillis
    assert.strictEqual(yield* usedBy(companyId, key, "hour_sats", last), sats(61))
    assert.strictEqual(yield* send(companyId, 1, last, key), "LimitExceeded")
    const spent = yield* (yield* Records).spent(companyId, key.subject)
    assert.isAtMost(spent.filter(({ window }) => window === "hour").length, Limit.places)
  }),
  "limits: when a withdrawal fails, the usage counted for the withdrawal is released only once": Effect.gen(
    function* () {
      const companyId = yield* companyWith(1000)
      const key = yield* keyWith({ hour_sats: sats(100), day_count: 2n })
      const company = { subject: companyId, most: { day_sats: sats(100) } }
      const { row, change } = yield* sending(companyId, 100, midnight, key, company)
      assert.strictEqual(yield* verdict(change), "Applied")
      const begun = yield* claim(row)
      assert.strictEqual(yield* send(companyId, 1, midnight, key, company), "LimitExceeded")
      const failed = Withdrawal.failed(row, "no_route", begun.fence, midnight + 7_000_000)
      const verdicts = yield* Effect.forEach(times(8), () => verdict(failed), atOnce)
      assert.deepStrictEqual(tally(verdicts), { Applied: 8 })
      assert.strictEqual(yield* usedBy(companyId, key, "day_count", midnight), 0n)
      // The usage is counted at the time of the request, not of the failure.
      assert.strictEqual(yield* send(companyId, 101, midnight + 7_000_000, key, company), "LimitExceeded")
      assert.strictEqual(yield* send(companyId, 100, midnight + 7_000_000, key, company), "Applied")
      yield* has(companyId, { posted: 1000, held: 100 })
    }
  ),
  "limits: a withdrawal that fails after its window ended releases no usage of later withdrawals": Effect.gen(
    function* () {
      const companyId = yield* companyWith(1000)
      const key = yield* keyWith({ day_sats: sats(100) })
      const { row, change } = yield* sending(companyId, 60, midnight, key)
      assert.strictEqual(yield* verdict(change), "Applied")
      const begun = yield* claim(row)
      // The time of the next bucket in the same slot.
      const later = midnight + Limit.places * Limit.windows.day.stepMillis
      assert.strictEqual(yield* send(companyId, 60, later, key), "Applied")
      assert.strictEqual(yield* verdict(Withdrawal.failed(row, "no_route", begun.fence, later)), "Applied")
      assert.strictEqual(yield* usedBy(companyId, key, "day_sats", later), sats(60))
      assert.strictEqual(yield* send(companyId, 41, later, key), "LimitExceeded")
    }
  )
} satisfies Promises<Journal | Records | Tasks>
