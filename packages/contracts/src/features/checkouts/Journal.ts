import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Noun from "@satrail/core/ledger/Noun"
import type { Journal } from "@satrail/core/ledger/Journal"
import * as Checkout from "@satrail/features/checkouts/core/Checkout"
import { fence, Tasks } from "@satrail/core/ledger/Tasks"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as Search from "@satrail/core/reports/Search"
import { Records } from "@satrail/core/service/Records"
import { Effect } from "effect"
import type { Promises } from "../../Contract.ts"
import { arrival, created, open, output, preimage, verdict } from "../../Fixtures.ts"
import { row } from "./Fixtures.ts"

const atMillis = 1_700_000_000_000

/** Returns a company's checkouts. */
export const checkouts = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
  return yield* (yield* Records).newestFirst(Checkout.noun, companyId, null, 10)
})

/** Guarantees about what payers can change. */
export const other = {
  "an expired checkout that gets a new quote expires again at its new deadline": Effect.gen(function* () {
    const tasks = yield* Tasks
    const companyId = yield* open
    const [id, invoiceId, onChainAddressId, publicId] = [
      yield* Id.make,
      yield* Id.make,
      yield* Id.make,
      yield* Id.make
    ]
    const expiresAtMillis = atMillis + 60_000
    const created = {
      id,
      companyId,
      invoiceId,
      onChainAddressId,
      publicId,
      createdAtMillis: atMillis,
      updatedAtMillis: atMillis,
      expiresAtMillis
    }
    const checkout = row({ ...created, options: ["new_quote", "tip"], contact: "help@shop.example" })
    assert.strictEqual(yield* verdict(Checkout.created(checkout)), "Applied")
    const due = Effect.fnUntraced(function* (nowMillis: number) {
      const claimed = yield* tasks.claim({ kind: "checkout", nowMillis, leaseMillis: 1, limit: 1000 })
      return claimed.find((task) => task.id === id)
    })
    const task = (yield* due(expiresAtMillis)) ?? assert.fail("the checkout must have a job")
    const expiry = Checkout.next(
      checkout,
      { status: "expired", arrived: Checkout.nothing },
      expiresAtMillis,
      {
        fence: fence(task),
        isDone: true
      }
    )
    assert.strictEqual(yield* verdict(expiry), "Applied")
    const [expired = checkout] = yield* checkouts(companyId)
    assert.deepStrictEqual([expired.status, yield* due(expiresAtMillis + 1000)], ["expired", undefined])
    const next = {
      invoiceId: yield* Id.make,
      paymentRequest: "lnbcrt2…",
      amount: Msat.make(2000n),
      rate: "50000",
      rateAtMillis: 1,
      fiatCurrency: "eur",
      rateSource: "Kraken"
    }
    const again = Checkout.renewed(
      expired,
      { ...next, expiresAtMillis: expiresAtMillis + 120_000 },
      expiresAtMillis + 60_000
    )
    assert.strictEqual(yield* verdict(again), "Applied")
    assert.strictEqual(
      yield* verdict(Checkout.renewed(expired, { ...next, expiresAtMillis }, expiresAtMillis)),
      "CheckoutNotOpen"
    )
    const answered = Noun.after(expired, again.writes[0], again.atMillis)
    assert.deepStrictEqual(yield* checkouts(companyId), [answered])
    assert.strictEqual(answered.status, "open")
    assert.isUndefined(yield* due(expiresAtMillis + 119_999))
    assert.isDefined(yield* due(expiresAtMillis + 120_000))
    const tipped = Checkout.answered(answered, { tipPercent: 5, payerEmail: "ann@example.com" }, atMillis + 1)
    assert.strictEqual(yield* verdict(tipped), "Applied")
    assert.deepStrictEqual(yield* checkouts(companyId), [
      Noun.after(answered, tipped.writes[0], tipped.atMillis)
    ])
  })
} satisfies Promises<Journal | Records | Tasks>

/** Guarantees about lists of checkouts. */
export const listed = {
  "an order's checkouts are listed newest first, without those of other orders, other letter cases and other companies":
    Effect.gen(function* () {
      const { ofOrder } = yield* Records
      const [companyId, other] = [yield* open, yield* open]
      const ids: Array<string> = []
      for (const [owner, orderId] of [
        [companyId, "a/1"],
        [companyId, "A/1"],
        [companyId, "a/1"],
        [other, "a/1"],
        [companyId, null],
        [companyId, "a/12"],
        [companyId, "a/1"]
      ] as const) {
        ids.push(yield* Id.make)
        const unique = {
          invoiceId: yield* Id.make,
          onChainAddressId: yield* Id.make,
          publicId: yield* Id.make
        }
        yield* verdict(Checkout.created(row({ id: ids.at(-1) ?? "", companyId: owner, orderId, ...unique })))
      }
      const sorted = (...numbers: ReadonlyArray<number>) =>
        numbers
          .map((number) => ids[number] ?? "")
          .toSorted()
          .toReversed()
      const found = (orderId: string, before: string | null, limit: number) =>
        Effect.map(ofOrder(companyId, orderId, before, limit), (rows) => rows.map(({ id }) => id))
      const all = sorted(0, 2, 6)
      assert.deepStrictEqual(yield* found("a/1", null, 10), all)
      assert.deepStrictEqual(yield* found("a/1", null, 2), all.slice(0, 2))
      assert.deepStrictEqual(yield* found("a/1", all[1] ?? "", 10), all.slice(2))
      assert.deepStrictEqual(yield* found("A/1", null, 10), sorted(1))
      assert.deepStrictEqual(yield* found("a", null, 10), [])
    })
} satisfies Promises<Journal | Records>

/** Guarantees about payments toward a checkout. */
export const money = {
  "a listed transaction has its checkout's description, even an empty one, or its invoice's description if it has no checkout":
    Effect.gen(function* () {
      const companyId = yield* open
      const add = Effect.fnUntraced(function* (description: string) {
        const [id, invoiceId, onChainAddressId, publicId] = [
          yield* Id.make,
          yield* Id.make,
          yield* Id.make,
          yield* Id.make
        ]
        yield* verdict(
          Checkout.created(row({ id, companyId, publicId, invoiceId, onChainAddressId, description }))
        )
        return id
      })
      const expected = new Map<string, string>()
      const [tea, nothing, foreign] = [yield* add("tea"), yield* add(""), yield* Id.make]
      for (const [checkoutId, description] of [
        [tea, "tea"],
        [nothing, ""],
        [foreign, "memo"],
        [null, "memo"]
      ] as const) {
        const invoice = yield* created(companyId, 1, { memo: "memo" })
        const deposit = { ...(yield* arrival(companyId, 1)), lightningInvoiceId: invoice.id, checkoutId }
        assert.strictEqual(yield* verdict(Invoice.settled(invoice, deposit, yield* preimage)), "Applied")
        expected.set(deposit.id, description)
      }
      const direct = yield* output(companyId, 1)
      assert.strictEqual(yield* verdict(Deposit.seen(direct)), "Applied")
      expected.set(direct.id, "")
      const lines = yield* (yield* Records).transactions(companyId, { limit: 10 })
      assert.deepStrictEqual(new Map(lines.map(({ id, description }) => [id, description])), expected)
    }),
  "a checkout's payments are summed as credited, pending or in time, excluding failed payments and those of other checkouts":
    Effect.gen(function* () {
      const records = yield* Records
      const [one, other, checkoutId] = [yield* open, yield* open, yield* Id.make]
      const expiresAtMillis = atMillis + 1
      const come = Effect.fnUntraced(function* (
        companyId: CompanyId.CompanyId,
        sats: number,
        of: string | null,
        createdAtMillis = atMillis,
        paidAtMillis: number | null = null
      ) {
        const row = yield* output(companyId, sats, { checkoutId: of, createdAtMillis, paidAtMillis })
        yield* verdict(Deposit.seen(row))
        return row
      })
      const [pending, settled] = [yield* come(one, 1, checkoutId), yield* come(one, 10, checkoutId)]
      const late = yield* come(one, 10_000, checkoutId, expiresAtMillis)
      const proven = yield* come(one, 20_000, checkoutId, expiresAtMillis, atMillis)
      const invoice = yield* created(one, 100_000)
      const paid = {
        lightningInvoiceId: invoice.id,
        checkoutId,
        createdAtMillis: expiresAtMillis,
        refunded: Msat.fromSats(40)
      }
      const lightning = { ...(yield* arrival(one, 100_000)), ...paid }
      yield* verdict(Invoice.settled(invoice, lightning, yield* preimage))
      yield* verdict(Deposit.confirmed(settled, atMillis))
      yield* verdict(Deposit.dropped(yield* come(one, 100, checkoutId), atMillis))
      yield* come(one, 1000, null)
      yield* come(one, 1000, yield* Id.make)
      const depositIds = [pending.id, settled.id, late.id, proven.id, lightning.id].toSorted().toReversed()
      const arrived = {
        received: Msat.fromSats(100_010),
        pending: Msat.fromSats(30_001),
        refunded: Msat.fromSats(40),
        inTime: Msat.fromSats(120_011),
        pendingHeight: null,
        depositIds
      }
      const checkout = { companyId: one, id: checkoutId, expiresAtMillis }
      assert.deepStrictEqual(yield* records.arrivedFor(checkout), arrived)
      assert.deepStrictEqual(yield* records.arrivedFor({ ...checkout, companyId: other }), Checkout.nothing)
    }),
  "a checkout's pending and settled deposits are listed newest first, excluding failed deposits and those of other checkouts":
    Effect.gen(function* () {
      const records = yield* Records
      const [one, other, checkoutId] = [yield* open, yield* open, yield* Id.make]
      const come = Effect.fnUntraced(function* (of: string | null) {
        const row = yield* output(one, 1, { checkoutId: of })
        yield* verdict(Deposit.seen(row))
        return row
      })
      const [pending, settled, failed] = [
        yield* come(checkoutId),
        yield* come(checkoutId),
        yield* come(checkoutId)
      ]
      const confirmed = Deposit.confirmed(settled, atMillis)
      yield* verdict(confirmed)
      yield* verdict(Deposit.dropped(failed, atMillis))
      yield* come(null)
      yield* come(yield* Id.make)
      const newestFirst = [pending, Deposit.after(confirmed)].toSorted((a, b) => (a.id < b.id ? 1 : -1))
      assert.deepStrictEqual(yield* records.depositsFor(one, checkoutId, 10), newestFirst)
      assert.deepStrictEqual(yield* records.depositsFor(one, checkoutId, 1), newestFirst.slice(0, 1))
      assert.deepStrictEqual(yield* records.depositsFor(other, checkoutId, 10), [])
    }),
  "the highest block height of a checkout's pending deposits is returned once all of them are in blocks":
    Effect.gen(function* () {
      const records = yield* Records
      const [one, checkoutId] = [yield* open, yield* Id.make]
      const height = () =>
        Effect.map(
          records.arrivedFor({ companyId: one, id: checkoutId, expiresAtMillis: atMillis }),
          ({ pendingHeight }) => pendingHeight
        )
      const come = Effect.fnUntraced(function* (sats: number) {
        const row = yield* output(one, sats, { checkoutId })
        yield* verdict(Deposit.seen(row))
        return row
      })
      const [first, second] = [yield* come(1), yield* come(2)]
      assert.isNull(yield* height())
      yield* verdict(Deposit.placed(first, 100, atMillis))
      assert.isNull(yield* height())
      const placed = Deposit.placed(second, 102, atMillis)
      yield* verdict(placed)
      assert.strictEqual(yield* height(), 102)
      yield* verdict(Deposit.confirmed(Deposit.after(placed), atMillis))
      assert.strictEqual(yield* height(), 100)
    })
} satisfies Promises<Journal | Records | Tasks>

/** Guarantees about searching for checkouts. */
export const searches = {
  "a search finds checkouts by the beginning of their order id, regardless of case, or by their description":
    Effect.gen(function* () {
      const records = yield* Records
      const companyId = yield* open
      const add = Effect.fnUntraced(function* (orderId: string | null, description: string) {
        const [id, invoiceId, onChainAddressId, publicId] = [
          yield* Id.make,
          yield* Id.make,
          yield* Id.make,
          yield* Id.make
        ]
        yield* verdict(
          Checkout.created(
            row({ id, companyId, publicId, invoiceId, onChainAddressId, orderId, description })
          )
        )
        return id
      })
      const found = Effect.fnUntraced(function* (text: string) {
        const sought = Search.sought(text)
        const hits = sought === undefined ? [] : yield* records.found(companyId, sought)
        return hits.map(({ kind, id, by }) => `${kind} ${id} ${by}`).toSorted()
      })
      const [first, second, third] = [
        yield* add("A_1", "Tea"),
        yield* add("ax1%", "Coffee"),
        yield* add(null, "a_1 cake")
      ]
      const unicode = yield* add("Ⅻ-Öl", "x")
      assert.deepStrictEqual(
        yield* found("a_"),
        [`checkouts ${first} order`, `checkouts ${third} text`].toSorted()
      )
      assert.deepStrictEqual(yield* found("AX1"), [`checkouts ${second} order`])
      assert.deepStrictEqual(yield* found("1%"), [])
      assert.deepStrictEqual(yield* found("COFFEE"), [`checkouts ${second} text`])
      assert.deepStrictEqual(yield* found("Ⅻ-Ö"), [`checkouts ${unicode} order`])
    })
} satisfies Promises<Journal | Records | Tasks>
