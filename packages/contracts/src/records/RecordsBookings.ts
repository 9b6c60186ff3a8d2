import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Balance from "@satrail/core/ledger/Balance"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Booking from "@satrail/core/reports/Booking"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Records } from "@satrail/core/service/Records"
import { Effect } from "effect"
import type * as Contract from "../Contract.ts"
import {
  begin,
  claimFor,
  committed,
  companyWith,
  created,
  lightningAttempt,
  onChain,
  open,
  output,
  payment,
  proof,
  transfer,
  unopened,
  withdrawal
} from "../Fixtures.ts"
import { holding } from "../features/Holding.ts"
import * as Purpose from "@satrail/core/receiving/Purpose"
import * as Cause from "@satrail/core/sending/Cause"

const everything: Booking.Period = { fromMillis: 0, untilMillis: 9_000_000_000_000 }

/** Reads all entries that change a company's balance, in pages of this size. */
const paged = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  period: Booking.Period,
  limit: number,
  last?: bigint
) {
  const records = yield* Records
  const upTo = last ?? (yield* records.bookedSums(companyId, period)).last
  const all: Array<Booking.Entry> = []
  let after: bigint | null = 0n
  while (after !== null) {
    const page: Booking.Found = yield* records.bookedEntries({ ...period, companyId, after, upTo, limit })
    assert.isAtMost(page.entries.length, limit)
    all.push(...page.entries)
    after = page.lookedTo
  }
  return all
})

const folded = (entries: ReadonlyArray<Booking.Entry>): ReadonlyArray<Booking.Booking> => {
  const { closed, open } = Booking.fold(undefined, entries)
  return open === undefined ? closed : [...closed, open]
}

const fees = { serviceFee: Msat.make(5_001n), networkAllowance: Msat.make(10_000n) }

/** A paid withdrawal of this many sats, with both fees. */
const sent = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, sats: number) {
  const { withdrawal, fence } = yield* begin(companyId, sats, fees)
  yield* committed(
    Withdrawal.dispatched(withdrawal, yield* lightningAttempt, fence, withdrawal.createdAtMillis),
    Withdrawal.settled(withdrawal, yield* proof(3), fence, withdrawal.createdAtMillis + 1)
  )
  return withdrawal
})

/** Creates a company with every kind of ledger transaction. */
const busy = Effect.gen(function* () {
  const companyId = yield* companyWith(1_000)
  const paid = yield* sent(companyId, 200)
  const held = yield* withdrawal(companyId, 50, fees)
  yield* committed(Withdrawal.requested(held), ...(yield* holding(companyId, 20)))
  const seen = yield* output(companyId, 300, { height: 7 })
  yield* committed(Deposit.seen(seen), Deposit.confirmed(seen, seen.createdAtMillis + 1))
  const settled: Deposit.Deposit = { ...seen, status: "settled", revision: 1 }
  yield* committed(Deposit.reversed(settled, Msat.fromSats(15), seen.createdAtMillis + 2))
  return { companyId, paid, seen }
})

/** Guarantees about reading a company's ledger entries. */
export const money = {
  "a company's sums, entries and balance agree to the millisatoshi, whatever was posted": Effect.gen(
    function* () {
      const records = yield* Records
      const { companyId } = yield* busy
      const { before, within } = yield* records.bookedSums(companyId, everything)
      assert.deepStrictEqual(before, [])
      assert.deepStrictEqual(Balance.effect(within), yield* records.balance(companyId))
      const bookings = folded(yield* paged(companyId, everything, 2))
      assert.strictEqual(Msat.sum(...bookings.map(Booking.total)), (yield* records.balance(companyId)).posted)
      assert.deepStrictEqual(
        bookings.map(({ kind, amount, serviceFee, networkFee }) => [kind, amount, serviceFee, networkFee]),
        [
          ["deposit", 1_000_000n, 0n, 0n],
          ["withdrawal", -200_000n, -5_001n, -10_000n],
          ["deposit", 300_000n, 0n, 0n],
          ["reversal", -285_000n, 0n, 0n]
        ]
      )
    }
  ),
  "each page of entries continues where the previous one ended, whatever the page size": Effect.gen(
    function* () {
      const { companyId } = yield* busy
      const all = yield* paged(companyId, everything, 1000)
      assert.isTrue(all.every(({ id }, n) => n === 0 || id > (all[n - 1]?.id ?? 0n)))
      for (const limit of [1, 2, 3, all.length])
        assert.deepStrictEqual(yield* paged(companyId, everything, limit), all, `${limit}`)
    }
  ),
  "entries posted after the sums were read are listed after the last entry that the sums include": Effect.gen(
    function* () {
      const records = yield* Records
      const companyId = yield* companyWith(10)
      const { last } = yield* records.bookedSums(companyId, everything)
      yield* committed(yield* payment(yield* created(companyId, 5), 5))
      assert.lengthOf(yield* paged(companyId, everything, 10, last), 1)
      assert.lengthOf(yield* paged(companyId, everything, 10), 2)
    }
  )
} satisfies Contract.Promises<Journal | Records | Tasks>

export const other = {
  "a period includes its first moment and excludes its end; earlier entries are in a separate sum":
    Effect.gen(function* () {
      const records = yield* Records
      const companyId = yield* open
      const atMillis = 1_700_000_000_000
      for (const n of [0, 1, 2, 3]) {
        const seen = yield* output(companyId, 10 ** n, { createdAtMillis: atMillis })
        yield* committed(Deposit.seen(seen), Deposit.confirmed(seen, atMillis + n))
      }
      const period = { fromMillis: atMillis + 1, untilMillis: atMillis + 3 }
      const { before, within } = yield* records.bookedSums(companyId, period)
      const turnover = (sats: number, count: number) => [
        { from: "chain", to: "available", amount: Msat.fromSats(sats), count }
      ]
      assert.deepStrictEqual<ReadonlyArray<object>>(before, turnover(1, 1))
      assert.deepStrictEqual<ReadonlyArray<object>>(within, turnover(110, 2))
      const entries = yield* paged(companyId, period, 1)
      assert.deepStrictEqual(
        entries.map(({ amount, atMillis: at }) => [amount, at - atMillis]),
        [
          [10_000n, 1],
          [100_000n, 2]
        ]
      )
    }),
  "entries, sums and records of one company never include those of another": Effect.gen(function* () {
    const records = yield* Records
    const [{ companyId, paid }, otherId] = [yield* busy, yield* companyWith(7)]
    const { within } = yield* records.bookedSums(otherId, everything)
    assert.strictEqual(Balance.effect(within).posted, 7_000n)
    assert.lengthOf(yield* paged(otherId, everything, 10), 1)
    assert.deepStrictEqual(yield* records.subjects(otherId, [paid.ledgerTxId]), [])
    assert.lengthOf(yield* records.subjects(companyId, [paid.ledgerTxId]), 1)
    const none = yield* unopened
    assert.deepStrictEqual(yield* records.bookedSums(none, everything), { last: 0n, before: [], within: [] })
    assert.deepStrictEqual(yield* paged(none, everything, 10), [])
  }),
  "the transfer id finds the record of a ledger transaction and the record's details": Effect.gen(
    function* () {
      const records = yield* Records
      const companyId = yield* open
      const rated = {
        rate: "64000.5",
        rateAtMillis: 1_699_999_999_999,
        fiatCurrency: "eur",
        rateSource: "Kraken"
      }
      const invoice = yield* created(companyId, 100, rated)
      const paid = yield* payment(invoice, 100)
      yield* committed(paid)
      const asked = yield* withdrawal(companyId, 40, {
        rate: "65000",
        rateAtMillis: 1_700_000_000_000,
        fiatCurrency: "chf",
        rateSource: "Kraken, Coinbase",
        ...onChain
      })
      yield* committed(Withdrawal.requested(asked))
      const deposit = paid.writes[1].record
      const found = yield* records.subjects(companyId, [
        asked.ledgerTxId,
        deposit.ledgerTxId,
        "00000000-0000-7000-8000-000000000001"
      ])
      const byType = (a: { readonly type: string }, b: { readonly type: string }) =>
        a.type < b.type ? -1 : 1
      const expected: ReadonlyArray<Booking.Subject> = [
        {
          transferId: deposit.ledgerTxId,
          type: "deposit",
          amount: null,
          id: deposit.id,
          rail: "lightning",
          recipient: deposit.recipient,
          paymentHash: invoice.paymentHash,
          chainTxId: null,
          invoiceId: invoice.id,
          ...Purpose.noReferences,
          ...Cause.none,
          ...rated,
          metadata: deposit.metadata
        },
        {
          transferId: asked.ledgerTxId,
          type: "withdrawal",
          amount: null,
          id: asked.id,
          rail: "on_chain",
          recipient: asked.recipient,
          paymentHash: null,
          chainTxId: null,
          invoiceId: null,
          ...Purpose.noReferences,
          ...Cause.none,
          rate: "65000",
          rateAtMillis: 1_700_000_000_000,
          fiatCurrency: "chf",
          rateSource: "Kraken, Coinbase",
          metadata: asked.metadata
        }
      ]
      assert.deepStrictEqual(found.toSorted(byType), expected)
    }
  ),
  "a payment between two companies is a withdrawal of one and a deposit of the other, in one transfer":
    Effect.gen(function* () {
      const [payer, payee] = [yield* companyWith(100), yield* open]
      const begun = yield* begin(payer, 30, fees)
      const invoice = yield* created(payee, 30)
      yield* claimFor(begun, invoice)
      yield* committed(yield* transfer(begun, invoice))
      const [, out] = folded(yield* paged(payer, everything, 10))
      const [into] = folded(yield* paged(payee, everything, 10))
      assert.deepInclude(out, {
        kind: "withdrawal",
        amount: Msat.fromSats(-30),
        transferId: begun.withdrawal.ledgerTxId
      })
      assert.deepInclude(into, {
        kind: "deposit",
        amount: Msat.fromSats(30),
        transferId: begun.withdrawal.ledgerTxId
      })
      assert.lengthOf(yield* (yield* Records).subjects(payer, [begun.withdrawal.ledgerTxId]), 1)
    })
} satisfies Contract.Promises<Journal | Records | Tasks>
