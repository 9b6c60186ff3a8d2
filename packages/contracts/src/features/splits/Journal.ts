import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as CreditShares from "@satrail/core/receiving/CreditShares"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import * as Share from "@satrail/features/splits/core/Share"
import * as Transfer from "@satrail/features/transfers/core/Transfer"
import { Clock, Effect, Option } from "effect"
import type { Promises } from "../../Contract.ts"
import {
  arrival,
  begin,
  committed,
  companyWith,
  created,
  eventsOf,
  open,
  output,
  preimage,
  tally,
  verdict
} from "../../Fixtures.ts"
import { booked, has } from "../../Ledger.ts"

/** Returns the shares of a deposit for these payees, in basis points. */
const sharesOf = Effect.fnUntraced(function* (
  deposit: Deposit.Deposit,
  payees: ReadonlyArray<readonly [CompanyId.CompanyId, basisPoints: number]>,
  skipped: ReadonlyArray<CompanyId.CompanyId> = []
) {
  const [entropy, atMillis] = [yield* Entropy, yield* Clock.currentTimeMillis]
  const transfers = payees.map(([companyId, basisPoints]) =>
    Share.transfer(deposit, { companyId, basisPoints }, Id.fromMillis(atMillis, entropy), atMillis)
  )
  return { transfers, shares: Share.shares(deposit, transfers, skipped) }
})

/** Makes the Change that credits a paid invoice of a company with its shares. */
const paying = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  sats: number,
  payees: ReadonlyArray<readonly [CompanyId.CompanyId, basisPoints: number]>,
  skipped: ReadonlyArray<CompanyId.CompanyId> = []
) {
  const invoice = yield* created(companyId, sats)
  const deposit = { ...(yield* arrival(companyId, sats)), lightningInvoiceId: invoice.id }
  const { transfers, shares } = yield* sharesOf(deposit, payees, skipped)
  const change = Invoice.settled(invoice, deposit, yield* preimage)
  return { deposit, transfers, change: CreditShares.added(change, shares) }
})

/** Returns the violations in these companies' books, without those of the fixture that funded them. */
const faultsOf = Effect.fnUntraced(function* (...companyIds: ReadonlyArray<CompanyId.CompanyId>) {
  const records = yield* Records
  const faults = yield* Effect.forEach(companyIds, records.faults)
  return faults.flat().flatMap(({ kind, id, account }) => (kind === "proof" ? [] : [[kind, id, account]]))
})

const stored = Effect.fnUntraced(function* ({ companyId, recipientId, id }: Transfer.Transfer) {
  const { get } = yield* Records
  return [
    Option.getOrUndefined(yield* get(Transfer.noun, companyId, id)),
    Option.getOrUndefined(yield* get(Transfer.noun, recipientId, id))
  ]
})

/** Guarantees about shares of deposits. */
export const money = {
  "split: a paid invoice credits its receiver and its payees in one commit, once, and the books of all balance":
    Effect.gen(function* () {
      const [shop, one, other] = [yield* open, yield* companyWith(10), yield* open]
      const { change, transfers } = yield* paying(shop, 100, [
        [one, 1250],
        [other, 2000]
      ])
      assert.deepStrictEqual(yield* booked(verdict(change)), { available: 100, node: -100 })
      assert.strictEqual(yield* verdict(change), "Applied")
      const { balance } = yield* Records
      assert.strictEqual((yield* balance(shop)).posted, Msat.make(67_500n))
      assert.strictEqual((yield* balance(one)).posted, Msat.make(22_500n))
      yield* has(other, { posted: 20, held: 0 })
      for (const row of transfers) assert.deepStrictEqual(yield* stored(row), [row, row])
      assert.deepStrictEqual(yield* faultsOf(shop, one, other), [])
    }),
  "split: 64 concurrent commits of one credit share it once": Effect.gen(function* () {
    const [shop, payee] = [yield* open, yield* open]
    const { change } = yield* paying(shop, 100, [[payee, 5000]])
    const verdicts = yield* Effect.forEach(
      Array.from({ length: 64 }, () => change),
      verdict,
      { concurrency: "unbounded" }
    )
    assert.deepStrictEqual(tally(verdicts), { Applied: 64 })
    yield* has(shop, { posted: 50, held: 0 })
    yield* has(payee, { posted: 50, held: 0 })
  }),
  "split: a receiver without money can share all of a credit, whatever it holds": Effect.gen(function* () {
    const [shop, payee] = [yield* companyWith(10), yield* open]
    yield* begin(shop, 10)
    const { change } = yield* paying(shop, 100, [[payee, 10_000]])
    assert.strictEqual(yield* verdict(change), "Applied")
    yield* has(shop, { posted: 10, held: 10 })
    yield* has(payee, { posted: 100, held: 0 })
  }),
  "split: credits with and without shares that are committed together each get their own": Effect.gen(
    function* () {
      const [shop, payee] = [yield* open, yield* open]
      const plain = yield* Effect.forEach(Array.from({ length: 8 }), () => paying(shop, 100, []))
      const split = yield* Effect.forEach(Array.from({ length: 8 }), () => paying(shop, 100, [[payee, 2500]]))
      yield* Effect.forEach([...plain, ...split], ({ change }) => committed(change), {
        concurrency: "unbounded"
      })
      yield* has(shop, { posted: 1400, held: 0 })
      yield* has(payee, { posted: 200, held: 0 })
      assert.deepStrictEqual(yield* faultsOf(shop, payee), [])
    }
  ),
  "split: each payee gets `transfer.received` for its own share, and the receiver an event about those that were skipped":
    Effect.gen(function* () {
      const [shop, one, other, frozen] = [yield* open, yield* open, yield* open, yield* open]
      const { change, deposit, transfers } = yield* paying(
        shop,
        100,
        [
          [one, 1000],
          [other, 2000]
        ],
        [frozen]
      )
      for (const _ of [1, 2]) yield* verdict(change)
      for (const [row, company] of [
        [0, one],
        [1, other]
      ] as const)
        assert.deepStrictEqual(
          (yield* eventsOf(company)).map(({ type, subject }) => [type, subject]).slice(1),
          [["transfer.received", transfers[row]?.id]]
        )
      const own = (yield* eventsOf(shop)).map(({ type, subject }) => [type, subject])
      assert.deepStrictEqual(own.slice(-1), [["split.skipped", deposit.id]])
      assert.deepStrictEqual((yield* eventsOf(frozen)).slice(1), [])
    }),
  "split: an on-chain deposit is shared when it is confirmed; a reorganization takes it from the receiver only":
    Effect.gen(function* () {
      const [shop, payee] = [yield* companyWith(100), yield* open]
      const seen = yield* output(shop, 100)
      yield* committed(Deposit.seen(seen))
      const confirmed = Deposit.confirmed(seen, seen.createdAtMillis + 1)
      const { shares } = yield* sharesOf(seen, [[payee, 4000]])
      yield* committed(CreditShares.added(confirmed, shares))
      yield* has(shop, { posted: 160, held: 0 })
      yield* has(payee, { posted: 40, held: 0 })
      yield* committed(Deposit.reversed(Deposit.after(confirmed), Msat.zero, seen.createdAtMillis + 2))
      yield* has(shop, { posted: 60, held: 0 })
      yield* has(payee, { posted: 40, held: 0 })
      assert.deepStrictEqual(yield* faultsOf(shop, payee), [])
    }),
  "split: an internal payment is shared, also with the company that pays": Effect.gen(function* () {
    const [payer, shop] = [yield* companyWith(100), yield* open]
    const { withdrawal, fence } = yield* begin(payer, 100)
    const deposit = { ...(yield* arrival(shop, 100)), ledgerTxId: withdrawal.ledgerTxId }
    const to = { deposit, invoice: null, preimage: null, lightningAddressId: null }
    const change = Withdrawal.transferred(withdrawal, to, fence, withdrawal.createdAtMillis + 1)
    const { shares } = yield* sharesOf(deposit, [[payer, 3000]])
    assert.deepStrictEqual(yield* booked(verdict(CreditShares.added(change, shares))), {
      available: 100,
      held: -100
    })
    yield* has(payer, { posted: 30, held: 0 })
    yield* has(shop, { posted: 70, held: 0 })
    assert.deepStrictEqual(yield* faultsOf(payer, shop), [])
  })
} satisfies Promises<Journal | Records | Tasks>
