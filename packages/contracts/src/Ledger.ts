import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Records } from "@satrail/core/service/Records"
import { Effect } from "effect"

/** Checks that a company has exactly this balance, and that its books are sound. */
export const has = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  sats: { readonly posted: number; readonly held: number }
) {
  const { totals } = yield* (yield* Records).audit(companyId)
  assert.deepStrictEqual(totals, { posted: Msat.fromSats(sats.posted), held: Msat.fromSats(sats.held) })
  yield* isSound([companyId])
})

/**
 * Checks that the books of these companies are sound. Running totals equal the sum of entries, held amounts
 * equal the holds of pending withdrawals and open vouchers, and nothing is below zero. Over all companies the
 * entries sum to zero, and no money is stuck between two of them.
 */
export const isSound = Effect.fnUntraced(function* (companyIds: ReadonlyArray<CompanyId.CompanyId>) {
  const records = yield* Records
  yield* Effect.forEach(
    companyIds,
    Effect.fnUntraced(function* (companyId) {
      const { totals, entries, pending } = yield* records.audit(companyId)
      assert.deepStrictEqual(entries, totals, `totals of ${companyId} are the sum of its entries`)
      assert.strictEqual(
        pending,
        totals.held,
        `the pending records of ${companyId} add up to its held amount`
      )
      assert.isTrue(
        totals.held >= 0n && totals.posted >= totals.held,
        `no amount of ${companyId} is below zero`
      )
    })
  )
  const accounts = yield* records.trialBalance
  assert.strictEqual(Msat.sum(...Object.values(accounts)), Msat.zero, "entries sum to zero")
  for (const account of ["internal", "transfers"] as const)
    assert.strictEqual(accounts[account], Msat.zero, "no money is stuck between two companies")
})

/**
 * Checks that every company's books are sound, and that together they match the accounts. Call it only while
 * nothing is being committed.
 */
export const auditAll = Effect.gen(function* () {
  const records = yield* Records
  let [after, posted, held]: [string | null, bigint, bigint] = [null, 0n, 0n]
  for (;;) {
    const page: ReadonlyArray<{ readonly id: CompanyId.CompanyId }> = yield* records.companies(after, 1000)
    yield* isSound(page.map(({ id }) => id))
    for (const { id } of page) {
      const balance = yield* records.balance(id)
      posted += balance.posted
      held += balance.held
    }
    after = page.at(-1)?.id ?? null
    if (after === null) break
  }
  const accounts = yield* records.trialBalance
  assert.strictEqual(
    accounts.held,
    Msat.make(held),
    "the held account equals the sum of the companies' held amounts"
  )
  assert.strictEqual(
    Msat.sum(accounts.available, accounts.held),
    Msat.make(posted),
    "the accounts contain exactly the companies' total"
  )
})

/**
 * Returns the amounts that `effect` posted to each account that it changed, in sats. Call it only without
 * concurrent commits.
 */
export const booked = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { trialBalance } = yield* Records
    const before: Readonly<Record<string, Msat.Msat>> = yield* trialBalance
    yield* effect
    const moved: Record<string, number> = {}
    for (const [account, amount] of Object.entries(yield* trialBalance)) {
      const difference = amount - (before[account] ?? Msat.zero)
      if (difference !== 0n) moved[account] = Number(difference) / 1000
    }
    return moved
  })
