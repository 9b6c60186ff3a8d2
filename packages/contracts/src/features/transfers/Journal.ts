import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import type { Transaction } from "@satrail/core/reports/Transaction"
import { Records } from "@satrail/core/service/Records"
import * as Transfer from "@satrail/features/transfers/core/Transfer"
import { Clock, Effect, Option } from "effect"
import type { Promises } from "../../Contract.ts"
import { committed, companyWith, eventsOf, found, open, tally, unchanged, verdict } from "../../Fixtures.ts"
import { frozen } from "../../journal/Freezing.ts"
import { booked, has } from "../../Ledger.ts"
import { returnOf, transfer } from "./Fixtures.ts"

/** Returns the violations in these companies' books, without those of the fixture that funded them. */
const faultsOf = Effect.fnUntraced(function* (...companyIds: ReadonlyArray<CompanyId.CompanyId>) {
  const records = yield* Records
  const faults = yield* Effect.forEach(companyIds, records.faults)
  return faults.flat().flatMap(({ kind, id, account }) => (kind === "proof" ? [] : [[kind, id, account]]))
})

/** Guarantees about money between companies. */
export const money = {
  "transfer: the amount leaves one company and reaches the other once, and the books of both balance":
    Effect.gen(function* () {
      const [payer, payee] = [yield* companyWith(100), yield* companyWith(10)]
      const row = yield* transfer(payer, payee, 30)
      assert.deepStrictEqual(yield* booked(verdict(Transfer.sent(row))), {})
      assert.strictEqual(yield* unchanged(Transfer.sent(row)), "Applied")
      yield* has(payer, { posted: 70, held: 0 })
      yield* has(payee, { posted: 40, held: 0 })
      assert.deepStrictEqual(yield* faultsOf(payer, payee), [])
      const records = yield* Records
      for (const company of [payer, payee])
        assert.deepStrictEqual(yield* found(records.get(Transfer.noun, company, row.id)), row)
      assert.isTrue(Option.isNone(yield* records.get(Transfer.noun, yield* open, row.id)))
    }),
  "transfer: verification finds postings of either company that differ from the record": Effect.gen(
    function* () {
      const [payer, payee] = [yield* companyWith(100), yield* companyWith(10)]
      const row = yield* transfer(payer, payee, 30)
      const [more, change] = [Msat.fromSats(31), Transfer.sent(row)]
      const legs = [
        { companyId: payer, postings: [{ from: "available", to: "transfers", amount: more }] },
        { companyId: payee, postings: [{ from: "transfers", to: "available", amount: more }] }
      ] as const
      assert.strictEqual(yield* verdict({ ...change, legs }), "Applied")
      for (const company of [payer, payee])
        assert.deepStrictEqual((yield* faultsOf(company)).toSorted(), [
          ["transfer", row.ledgerTxId, "available"],
          ["transfer", row.ledgerTxId, "transfers"]
        ])
    }
  ),
  "transfer: above the sender's balance it is refused, whatever the recipient has": Effect.gen(function* () {
    const [payer, payee] = [yield* companyWith(100), yield* companyWith(1000)]
    assert.strictEqual(
      yield* unchanged(Transfer.sent(yield* transfer(payer, payee, 101))),
      "InsufficientBalance"
    )
    yield* committed(Transfer.sent(yield* transfer(payer, payee, 100)))
    yield* has(payer, { posted: 0, held: 0 })
    yield* has(payee, { posted: 1100, held: 0 })
  }),
  "transfer: 64 concurrent transfers of two companies' last balance in both directions keep the sum, and none is below zero":
    Effect.gen(function* () {
      const [one, other] = [yield* companyWith(10), yield* companyWith(10)]
      const rows = yield* Effect.forEach(Array.from({ length: 64 }), (_, n) =>
        n % 2 === 0 ? transfer(one, other, 7) : transfer(other, one, 7)
      )
      yield* Effect.forEach(rows, (row) => verdict(Transfer.sent(row)), { concurrency: "unbounded" })
      const { balance } = yield* Records
      const totals = [yield* balance(one), yield* balance(other)].map(({ posted }) => posted)
      assert.strictEqual(Msat.sum(...totals), Msat.fromSats(20))
      assert.isTrue(totals.every((posted) => posted >= 0n))
      assert.deepStrictEqual(yield* faultsOf(one, other), [])
    }),
  "transfer: the sender gets `transfer.sent` and the recipient `transfer.received`, once": Effect.gen(
    function* () {
      const [payer, payee] = [yield* companyWith(100), yield* companyWith(10)]
      const row = yield* transfer(payer, payee, 30)
      const of = (company: CompanyId.CompanyId) =>
        Effect.map(eventsOf(company), (events) =>
          events.flatMap(({ type, subject }) => (type.startsWith("transfer.") ? [[type, subject]] : []))
        )
      for (const _ of [1, 2]) yield* verdict(Transfer.sent(row))
      assert.deepStrictEqual(yield* of(payer), [["transfer.sent", row.id]])
      assert.deepStrictEqual(yield* of(payee), [["transfer.received", row.id]])
      const back = yield* returnOf(row, 10)
      yield* committed(Transfer.returned(row, back))
      for (const company of [payer, payee])
        assert.deepStrictEqual((yield* of(company)).slice(1), [["transfer.returned", back.id]])
    }
  ),
  "transfer: of 64 concurrent returns that read the same rest, one is applied, and the transfer keeps their sum":
    Effect.gen(function* () {
      const [payer, payee] = [yield* companyWith(100), yield* companyWith(100)]
      const row = yield* transfer(payer, payee, 30)
      yield* committed(Transfer.sent(row))
      const all = yield* Effect.forEach(Array.from({ length: 64 }), () => returnOf(row, 20))
      const verdicts = yield* Effect.forEach(all, (back) => verdict(Transfer.returned(row, back)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(tally(verdicts), { Applied: 1, TransferMoved: 63 })
      yield* committed(Transfer.returned(row, yield* returnOf(row, 10, 20)))
      yield* has(payer, { posted: 100, held: 0 })
      yield* has(payee, { posted: 100, held: 0 })
      const { returned } = yield* found((yield* Records).get(Transfer.noun, payer, row.id))
      assert.strictEqual(returned, row.amount)
      assert.deepStrictEqual(yield* faultsOf(payer, payee), [])
    }),
  "transfer: verification finds a returned amount that differs from the returns": Effect.gen(function* () {
    const [payer, payee] = [yield* companyWith(100), yield* companyWith(100)]
    const row = yield* transfer(payer, payee, 30)
    yield* committed(Transfer.sent(row))
    const change = Transfer.returned(row, yield* returnOf(row, 20))
    const [insert, add] = change.writes
    yield* committed({ ...change, writes: [insert, { ...add, amount: 19n }] })
    assert.deepStrictEqual(yield* faultsOf(payer), [["returned", row.id, null]])
  }),
  "transfer: a limit counts what the sender sends, and nothing of the recipient": Effect.gen(function* () {
    const [payer, payee] = [yield* companyWith(100), yield* companyWith(100)]
    const atMillis = yield* Clock.currentTimeMillis
    const limit = (subject: string) => [{ subject, atMillis, most: { day_count: 2n, day_sats: 50_000n } }]
    const send = (from: CompanyId.CompanyId, to: CompanyId.CompanyId, sats: number) =>
      Effect.flatMap(transfer(from, to, sats), (row) => verdict(Transfer.sent(row, undefined, limit(from))))
    const sent = [yield* send(payer, payee, 30), yield* send(payer, payee, 21), yield* send(payer, payee, 20)]
    assert.deepStrictEqual(sent, ["Applied", "LimitExceeded", "Applied"])
    assert.strictEqual(yield* send(payee, payer, 50), "Applied")
    const many = yield* Effect.forEach(Array.from({ length: 8 }), () => send(payer, payee, 1), {
      concurrency: "unbounded"
    })
    assert.deepStrictEqual(tally(many), { LimitExceeded: 8 })
    yield* has(payer, { posted: 100, held: 0 })
    yield* has(payee, { posted: 100, held: 0 })
  }),
  "transfer: a frozen company can receive, but not send or return": Effect.gen(function* () {
    const [payer, payee] = [yield* companyWith(100), yield* companyWith(10)]
    assert.strictEqual(yield* frozen(payee), "Applied")
    const row = yield* transfer(payer, payee, 30)
    yield* committed(Transfer.sent(row))
    assert.strictEqual(yield* unchanged(Transfer.sent(yield* transfer(payee, payer, 1))), "CompanyFrozen")
    assert.strictEqual(yield* unchanged(Transfer.returned(row, yield* returnOf(row, 1))), "CompanyFrozen")
    assert.strictEqual(yield* frozen(payee, null), "Applied")
    yield* committed(Transfer.returned(row, yield* returnOf(row, 1)))
    yield* has(payer, { posted: 71, held: 0 })
  })
} satisfies Promises<Journal | Records | Tasks>

/** Guarantees about reading transfers. */
export const other = {
  "transfer: both companies list it among their transactions and records, newest first, and page by page":
    Effect.gen(function* () {
      const [payer, payee] = [yield* companyWith(100), yield* companyWith(100)]
      const atMillis = 1_950_000_000_000
      const rows = yield* Effect.forEach([1, 2, 2, 3], (after) =>
        transfer(payer, payee, after, { createdAtMillis: atMillis + after })
      )
      yield* committed(...rows.map((row) => Transfer.sent(row)))
      const sorted = rows.toSorted((a, b) => (a.id < b.id ? 1 : -1))
      const records = yield* Records
      for (const [company, other, sign] of [
        [payer, payee, -1n],
        [payee, payer, 1n]
      ] as const) {
        const lines = sorted.map((row): Transaction => ({
          id: row.id,
          companyId: company,
          amount: Msat.make(sign * row.amount),
          recipient: other,
          rail: "internal",
          type: "transfer",
          fee: Msat.zero,
          status: "settled",
          reason: null,
          metadata: { order: "7" },
          failure: null,
          description: "half of order 7",
          createdAtMillis: row.createdAtMillis
        }))
        const by = (query: object) => records.transactions(company, { limit: 10, type: "transfer", ...query })
        for (const query of [
          {},
          { status: "settled" },
          { rail: "internal" },
          { createdAfterMillis: atMillis }
        ])
          assert.deepStrictEqual(yield* by(query), lines)
        const [, second] = lines
        assert.deepStrictEqual(yield* by({ limit: 2 }), lines.slice(0, 2))
        assert.deepStrictEqual(yield* by({ after: second }), lines.slice(2))
        assert.deepStrictEqual(yield* by({ createdAfterMillis: atMillis + 2 }), lines.slice(0, 1))
        assert.deepStrictEqual(yield* by({ createdBeforeMillis: atMillis + 2 }), lines.slice(3))
        for (const query of [{ type: "deposit" }, { status: "pending" }, { rail: "lightning" }])
          assert.deepStrictEqual(
            (yield* by(query)).filter(({ type }) => type === "transfer"),
            []
          )
        const pages = [
          yield* records.newestFirst(Transfer.noun, company, null, 3),
          yield* records.newestFirst(Transfer.noun, company, sorted[2]?.id ?? "", 3)
        ]
        assert.deepStrictEqual(pages.flat(), sorted)
        const [oldest] = sorted.slice(-1)
        const subjects = yield* records.subjects(company, [oldest?.ledgerTxId ?? ""])
        assert.deepStrictEqual(
          subjects.map(({ id, type, amount, rail, recipient, metadata }) => ({
            id,
            type,
            amount,
            rail,
            recipient,
            metadata
          })),
          lines.slice(-1).map(({ id, type, amount, rail, recipient, metadata }) => ({
            id,
            type,
            amount,
            rail: rail ?? "lightning",
            recipient,
            metadata
          }))
        )
      }
    })
} satisfies Promises<Journal | Records | Tasks>
