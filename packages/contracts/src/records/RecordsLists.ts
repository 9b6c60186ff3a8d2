import { assert } from "@effect/vitest"
import * as TxId from "@satrail/bitcoin/TxId"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import type * as Metadata from "@satrail/core/base/Metadata"
import type { Journal, StoreUnavailable } from "@satrail/core/ledger/Journal"
import * as Page from "@satrail/core/ledger/Page"
import type { Found, Position } from "@satrail/core/ledger/Page"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import type { Query } from "@satrail/core/reports/Transaction"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Records } from "@satrail/core/service/Records"
import { Effect } from "effect"
import type { Promises } from "../Contract.ts"
import {
  begin,
  chainAttempt,
  claimFor,
  committed,
  companyWith,
  created,
  lightningAddress,
  lightningAttempt,
  onChain,
  open,
  output,
  payment,
  transfer,
  withdrawal
} from "../Fixtures.ts"

const base = 1_700_000_000_000

const ids = (rows: ReadonlyArray<{ readonly id: string }>): ReadonlyArray<string> => rows.map(({ id }) => id)

/** An id derived from a creation time, that time, and an expiry. */
const madeAt = (createdAtMillis: number) =>
  Effect.map(Entropy, (entropy) => ({
    id: Id.fromMillis(createdAtMillis, entropy),
    createdAtMillis,
    expiresAtMillis: base + 1_000_000
  }))

const newest = <A extends { readonly id: string }>(rows: ReadonlyArray<A>): ReadonlyArray<A> =>
  rows.toSorted((a, b) => (a.id < b.id ? 1 : -1))

/**
 * Reads every matching row in pages of at most `limit` rows.
 */
const whole = Effect.fnUntraced(function* <A extends Position>(
  limit: number,
  page: (after: Position | undefined) => Effect.Effect<Found<A>, StoreUnavailable>
) {
  const all: Array<A> = []
  let [after, pages]: [Position | undefined, number] = [undefined, 0]
  for (;;) {
    const { rows, lookedTo }: Found<A> = yield* page(after)
    pages++
    assert.isAtMost(rows.length, limit)
    assert.isTrue(lookedTo === null || rows.length < limit, "a full page must not be marked as cut off")
    all.push(...rows)
    const next: Position | undefined = rows.length === limit ? rows.at(-1) : (lookedTo ?? undefined)
    if (next === undefined) return { all, pages }
    assert.notDeepEqual(next, after, "each page continues after the previous one")
    after = next
  }
})

type InvoiceQuery = Partial<Omit<Invoice.Query, "before">>

/** A company's invoices in pages. */
const invoices = (companyId: CompanyId.CompanyId, query: InvoiceQuery = {}, looks = 10_000) =>
  Effect.gen(function* () {
    const { invoicesOf } = yield* Records
    const { limit = 1000 } = query
    return yield* whole(limit, (after) =>
      invoicesOf(companyId, { atMillis: base, limit, ...query, before: after?.id ?? null }, looks)
    )
  })

/** A company's transactions in pages. */
const found = (companyId: CompanyId.CompanyId, query: Partial<Query> = {}, looks = 10_000) =>
  Effect.gen(function* () {
    const { search } = yield* Records
    const { limit = 1000 } = query
    return yield* whole(limit, (after) =>
      search(companyId, { limit, ...query, ...(after && { after }) }, looks)
    )
  })

/** Asserts that pages of records with this much text end early, and that together they have each record once. */
const inParts = Effect.fnUntraced(function* <A extends Position>(
  expected: ReadonlyArray<A>,
  each: number,
  find: (limit: number, after: Position | undefined) => Effect.Effect<Found<A>, StoreUnavailable>
) {
  const all: Array<A> = []
  let begin: Position | undefined
  do {
    let read = 0
    const page: Page.Page<A> = yield* Effect.orDie(
      Page.pick(1000, (limit, after) =>
        Effect.tap(find(limit, after ?? begin), ({ rows }) =>
          Effect.sync(() => {
            read += rows.length
          })
        )
      )
    )
    assert.isAtMost(page.rows.length, Math.ceil(Page.maxCharacters / each))
    assert.isAtMost(read, page.rows.length + Page.atOnce)
    all.push(...page.rows)
    begin = page.next
  } while (begin !== undefined)
  assert.deepStrictEqual(ids(all), ids(expected))
})

const label = (key: string, value: string): Metadata.Label => ({ key, value })

/** Creates a withdrawal and a deposit for each label, at different times. */
const labelled = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  ...all: ReadonlyArray<Metadata.Metadata>
) {
  return yield* Effect.forEach(all, (metadata, n) =>
    Effect.gen(function* () {
      const out = yield* withdrawal(companyId, 1, { ...(yield* madeAt(base + 10 * n)), metadata })
      const { id, createdAtMillis } = yield* madeAt(base + 10 * n + 5)
      const into = yield* output(companyId, 1, { id, createdAtMillis, metadata })
      yield* committed(Withdrawal.requested(Withdrawal.pending(out)), Deposit.seen(into))
      return { out: out.id, into: into.id }
    })
  )
})

/** Guarantees about the filters for invoices and transactions. */
export const other = {
  "invoices are listed newest first, each once, in pages of any size, without those of other companies":
    Effect.gen(function* () {
      const [companyId, otherId] = [yield* open, yield* open]
      const rows = yield* Effect.forEach(Array.from({ length: 11 }), (_, n) =>
        Effect.flatMap(madeAt(base + Math.floor(n / 3)), (fields) => created(companyId, 1, fields))
      )
      const theirs = yield* created(otherId, 1)
      for (const limit of [1, 4, 11, 1000])
        assert.deepStrictEqual((yield* invoices(companyId, { limit })).all, newest(rows))
      assert.deepStrictEqual((yield* invoices(otherId)).all, [theirs])
      assert.deepStrictEqual((yield* invoices(yield* open)).all, [])
    }),
  "invoices are filtered by status, address, label, hash and time, separately and combined": Effect.gen(
    function* () {
      const [companyId, otherId, payer] = [yield* open, yield* open, yield* companyWith(100)]
      const [address, another] = [yield* lightningAddress(companyId), yield* lightningAddress(otherId)]
      yield* committed(LightningAddress.created(address), LightningAddress.created(another))
      const at = (n: number, fields: Partial<Invoice.Invoice> = {}) =>
        Effect.flatMap(madeAt(base + n), (made) =>
          created(companyId, 1, { ...made, metadata: { order: "1", n: String(n) }, ...fields })
        )
      const [waiting, late] = [yield* at(0), yield* at(1, { expiresAtMillis: base + 500 })]
      const [claimed, paid, over, asked] = [
        yield* at(2),
        yield* at(3),
        yield* at(4),
        yield* at(5, { lightningAddressId: address.id, metadata: {} })
      ]
      const [canceling, canceled] = [yield* at(6, { metadata: {} }), yield* at(7, { metadata: {} })]
      yield* committed(
        Invoice.canceled(canceling, base + 8),
        Invoice.canceled(canceled, base + 8),
        Invoice.closed(canceled, base + 9)
      )
      yield* claimFor(yield* begin(payer, 1), claimed)
      yield* committed(yield* payment(paid, 1), Invoice.expired(over, base + 9))
      const theirs = yield* created(otherId, 1, { metadata: { order: "1" }, lightningAddressId: another.id })
      const picked = (query: InvoiceQuery) => Effect.map(invoices(companyId, query), ({ all }) => ids(all))
      const expected = (...rows: ReadonlyArray<Invoice.Invoice>) => ids(newest(rows))
      assert.deepStrictEqual(
        yield* picked({ standing: "open", atMillis: base + 499 }),
        expected(waiting, late, asked)
      )
      assert.deepStrictEqual(
        yield* picked({ standing: "open", atMillis: base + 500 }),
        expected(waiting, asked)
      )
      assert.deepStrictEqual(yield* picked({ standing: "expired", atMillis: base + 499 }), expected(over))
      assert.deepStrictEqual(
        yield* picked({ standing: "expired", atMillis: base + 500 }),
        expected(late, over)
      )
      assert.deepStrictEqual(yield* picked({ standing: "accepted" }), expected(claimed))
      assert.deepStrictEqual(yield* picked({ standing: "settled" }), expected(paid))
      for (const atMillis of [base + 10, Number.MAX_SAFE_INTEGER])
        assert.deepStrictEqual(
          yield* picked({ standing: "canceled", atMillis }),
          expected(canceling, canceled)
        )
      assert.deepStrictEqual(yield* picked({ lightningAddressId: address.id }), expected(asked))
      assert.deepStrictEqual(yield* picked({ lightningAddressId: another.id }), [])
      assert.deepStrictEqual(
        yield* picked({ label: label("order", "1") }),
        expected(waiting, late, claimed, paid, over)
      )
      assert.deepStrictEqual(yield* picked({ label: label("n", "3") }), expected(paid))
      assert.deepStrictEqual(yield* picked({ paymentHash: late.paymentHash }), expected(late))
      assert.deepStrictEqual(yield* picked({ paymentHash: theirs.paymentHash }), [])
      const times = { createdAfterMillis: base + 1, createdBeforeMillis: base + 4 }
      assert.deepStrictEqual(yield* picked(times), expected(claimed, paid))
      assert.deepStrictEqual(
        yield* picked({ ...times, createdBeforeMillis: base * 1000, standing: "settled" }),
        expected(paid)
      )
      assert.deepStrictEqual(yield* picked({ createdAfterMillis: base * 1000 }), [])
      assert.deepStrictEqual(
        yield* picked({ ...times, label: label("order", "1"), standing: "settled" }),
        expected(paid)
      )
      assert.deepStrictEqual(yield* picked({ ...times, lightningAddressId: address.id }), [])
      assert.deepStrictEqual(yield* picked({ paymentHash: paid.paymentHash, standing: "open" }), [])
      assert.deepStrictEqual(
        yield* picked({ lightningAddressId: address.id, label: label("order", "1") }),
        []
      )
    }
  ),
  "a list limited to scanning a few rows continues where it stopped and omits nothing": Effect.gen(
    function* () {
      const companyId = yield* companyWith(100)
      const rows = yield* Effect.forEach(Array.from({ length: 12 }), (_, n) =>
        Effect.flatMap(madeAt(base + n), (made) =>
          created(companyId, 1, { ...made, metadata: { order: "1" } })
        )
      )
      const old = rows.filter((_, n) => n === 1 || n === 8)
      yield* committed(...old.map((row) => Invoice.expired(row, base + 20)))
      for (const query of [{}, { label: label("order", "1") }] satisfies ReadonlyArray<InvoiceQuery>) {
        const times = { createdAfterMillis: base - 1, createdBeforeMillis: base + 100 }
        const { all, pages } = yield* invoices(
          companyId,
          { ...query, ...times, standing: "expired", limit: 5 },
          3
        )
        assert.deepStrictEqual(ids(all), ids(newest(old)))
        assert.isAtLeast(pages, 4, "each page must scan at most three of twelve rows")
      }
      const both = yield* labelled(
        companyId,
        ...Array.from({ length: 10 }, (): Metadata.Metadata => ({ order: "1" }))
      )
      yield* Effect.forEach(both.slice(2, 3), ({ into }) =>
        Effect.gen(function* () {
          const row = yield* (yield* Records).deposit(companyId, into)
          if (row._tag === "Some") yield* committed(Deposit.dropped(row.value, base + 200))
        })
      )
      for (const query of [
        { createdAfterMillis: base - 1, createdBeforeMillis: base + 200 },
        { label: label("order", "1"), createdBeforeMillis: base + 200 }
      ]) {
        const { all, pages } = yield* found(companyId, { ...query, status: "failed", limit: 5 }, 3)
        assert.deepStrictEqual(ids(all), [both[2]?.into ?? ""])
        assert.isAtLeast(pages, 3)
        const every = yield* found(companyId, { ...query, limit: 4 }, 3)
        assert.deepStrictEqual(
          ids(every.all),
          both.toReversed().flatMap(({ into, out }) => [into, out])
        )
      }
    }
  ),
  "pages of large records end early, although the store has more, and together have each record once":
    Effect.gen(function* () {
      const companyId = yield* open
      const each = 30_000
      const metadata = { note: "n".repeat(each) }
      const rows = yield* Effect.forEach(Array.from({ length: 2 * Page.atOnce }), (_, n) =>
        Effect.gen(function* () {
          const made = yield* madeAt(base + n)
          const { id, createdAtMillis } = yield* madeAt(base + n)
          const invoice = yield* created(companyId, 1, { ...made, metadata })
          const deposit = yield* output(companyId, 1, { id, createdAtMillis, metadata })
          yield* committed(Deposit.seen(deposit))
          return { invoice, deposit }
        })
      )
      const records = yield* Records
      const invoices = newest(rows.map(({ invoice }) => invoice))
      const before = (after: Position | undefined) => after?.id ?? null
      yield* inParts(invoices, each, (limit, after) =>
        records.invoicesOf(companyId, { atMillis: base, limit, before: before(after) }, Page.looks)
      )
      yield* inParts(invoices, each, (limit, after) =>
        Effect.map(records.newestFirst(Invoice.noun, companyId, before(after), limit), (rows) => ({
          rows,
          lookedTo: null
        }))
      )
      const deposits = newest(rows.map(({ deposit }) => deposit))
      yield* inParts<Position>(deposits, each, (limit, after) =>
        records.search(companyId, { limit, ...(after && { after }) }, Page.looks)
      )
    }),
  "transactions are found by a metadata key and its value": Effect.gen(function* () {
    const [companyId, otherId] = [yield* companyWith(100), yield* companyWith(100)]
    const odd = { "ключ \"'\\": "значение 🙂", constructor: "x", empty: "" }
    const [one, two, three] = yield* labelled(
      companyId,
      { order: "1", shop: "a" },
      { order: "2", shop: "a" },
      odd
    )
    const [theirs] = yield* labelled(otherId, { order: "1" })
    if (one === undefined || two === undefined || three === undefined || theirs === undefined)
      return assert.fail()
    const by = (key: string, value: string, query: Partial<Query> = {}) =>
      Effect.map(found(companyId, { label: label(key, value), ...query }), ({ all }) => ids(all))
    assert.deepStrictEqual(yield* by("order", "1"), [one.into, one.out])
    assert.deepStrictEqual(yield* by("shop", "a"), [two.into, two.out, one.into, one.out])
    for (const limit of [1, 3])
      assert.deepStrictEqual(yield* by("shop", "a", { limit }), [two.into, two.out, one.into, one.out])
    assert.deepStrictEqual(yield* by("shop", "a", { type: "deposit" }), [two.into, one.into])
    assert.deepStrictEqual(yield* by("shop", "a", { createdAfterMillis: base + 5 }), [two.into, two.out])
    assert.deepStrictEqual(yield* by("shop", "a", { createdBeforeMillis: base + 10 }), [one.into, one.out])
    assert.deepStrictEqual(yield* by("shop", "a", { rail: "lightning" }), [two.out, one.out])
    for (const [key, value] of Object.entries(odd))
      assert.deepStrictEqual(yield* by(key, value), [three.into, three.out], key)
    for (const [key, value] of [
      ["order", "3"],
      ["Order", "1"],
      ["order", ""],
      ["1", "order"],
      ["toString", ""]
    ] as const)
      assert.deepStrictEqual(yield* by(key, value), [], `${key}=${value}`)
  }),
  "a deposit is found by its invoice's metadata, whether the invoice was paid over the network or internally":
    Effect.gen(function* () {
      const [payer, payee] = [yield* companyWith(100), yield* open]
      const [outside, inside] = [yield* created(payee, 1), yield* created(payee, 1)]
      const paid = yield* payment(outside, 1)
      const [settled, deposit, touch] = paid.writes
      yield* committed({
        ...paid,
        writes: [settled, { ...deposit, record: { ...deposit.record, metadata: { order: "1" } } }, touch]
      })
      const one = yield* begin(payer, 1)
      yield* claimFor(one, inside)
      const moved = yield* transfer(one, inside)
      yield* committed({ ...moved, deposit: { ...moved.deposit, metadata: { order: "1" } } })
      const rows = (yield* found(payee, { label: label("order", "1") })).all
      assert.sameMembers([...ids(rows)], [deposit.record.id, moved.deposit.id])
    }),
  "transactions are found by payment hash, transaction id or invoice": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const invoice = yield* created(companyId, 1)
    const paid = yield* payment(invoice, 1)
    yield* committed(paid)
    const [sent, payout] = [yield* begin(companyId, 1), yield* begin(companyId, 1, onChain)]
    const [attempt, signed] = [yield* lightningAttempt, yield* chainAttempt]
    yield* committed(
      Withdrawal.dispatched(sent.withdrawal, attempt, sent.fence, base),
      Withdrawal.dispatched(payout.withdrawal, signed, payout.fence, base)
    )
    const both = [yield* output(companyId, 1, { vout: 0 }), yield* output(companyId, 1, { vout: 1 })]
    const seen = both.map((row) => ({ ...row, chainTxId: signed.txId }))
    yield* committed(...seen.map(Deposit.seen))
    const by = (query: Partial<Query>) => Effect.map(found(companyId, query), ({ all }) => [...ids(all)])
    const deposit = paid.writes[1].record.id
    assert.deepStrictEqual(yield* by({ paymentHash: attempt.paymentHash }), [sent.withdrawal.id])
    assert.deepStrictEqual(yield* by({ paymentHash: invoice.paymentHash }), [deposit])
    assert.deepStrictEqual(yield* by({ lightningInvoiceId: invoice.id }), [deposit])
    assert.sameMembers(yield* by({ chainTxId: signed.txId }), [payout.withdrawal.id, ...ids(seen)])
    assert.sameMembers(yield* by({ chainTxId: signed.txId, limit: 1 }), [payout.withdrawal.id, ...ids(seen)])
    assert.sameMembers(yield* by({ chainTxId: signed.txId, type: "deposit" }), [...ids(seen)])
    const otherId = yield* open
    for (const query of [
      { paymentHash: attempt.paymentHash },
      { paymentHash: invoice.paymentHash },
      { lightningInvoiceId: invoice.id },
      { chainTxId: signed.txId }
    ])
      assert.deepStrictEqual((yield* found(otherId, query)).all, [], JSON.stringify(query))
    const nothing = TxId.make("ab".repeat(32))
    for (const query of [
      { chainTxId: nothing },
      { lightningInvoiceId: yield* Id.make },
      { paymentHash: invoice.paymentHash, chainTxId: signed.txId },
      { paymentHash: invoice.paymentHash, type: "withdrawal" },
      { paymentHash: attempt.paymentHash, lightningInvoiceId: invoice.id },
      { lightningInvoiceId: invoice.id, label: label("order", "21") }
    ] satisfies ReadonlyArray<Partial<Query>>)
      assert.deepStrictEqual(yield* by(query), [], JSON.stringify(query))
    assert.deepStrictEqual(yield* by({ paymentHash: attempt.paymentHash, label: label("payroll", "may") }), [
      sent.withdrawal.id
    ])
  })
} satisfies Promises<Journal | Records | Tasks>
