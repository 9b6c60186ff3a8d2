import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import { Records } from "@satrail/core/service/Records"
import { Effect, Exit, Option } from "effect"
import type { Promises } from "../Contract.ts"
import {
  begin,
  claimFor,
  companyWith,
  created,
  found,
  hex,
  invoice,
  lightningAddress,
  open,
  payment,
  preimage,
  stray,
  tally,
  transfer,
  unchanged,
  verdict
} from "../Fixtures.ts"
import { booked, has } from "../Ledger.ts"

const atMillis = 1_700_000_000_000

const read = Effect.fnUntraced(function* ({ companyId, id }: Invoice.Invoice) {
  return yield* found((yield* Records).invoice(companyId, id))
})

const readCursor = Effect.fnUntraced(function* (source: string) {
  return Option.getOrNull(yield* (yield* Records).cursor(source))
})

/** Guarantees about how the payment of an invoice affects a company's money. */
export const money = {
  "a payment of an invoice is credited": Effect.gen(function* () {
    const companyId = yield* open
    const row = yield* created(companyId, 100)
    assert.deepStrictEqual(yield* booked(Effect.flatMap(payment(row, 100), verdict)), {
      available: 100,
      node: -100
    })
    yield* has(companyId, { posted: 100, held: 0 })
  }),
  "C33: a payment of an invoice without an amount is credited in full, even outside the expected range":
    Effect.gen(function* () {
      const companyId = yield* open
      const expected = { amount: null, minAmount: Msat.fromSats(10), maxAmount: Msat.fromSats(20) }
      for (const sats of [1, 15, 5000]) {
        const row = yield* created(companyId, 100, expected)
        assert.deepStrictEqual(yield* read(row), row)
        assert.deepStrictEqual(yield* booked(Effect.flatMap(payment(row, sats), verdict)), {
          available: sats,
          node: -sats
        })
        assert.deepInclude(yield* read(row), {
          ...expected,
          status: "settled",
          received: Msat.fromSats(sats)
        })
      }
    }),
  "an unpaid invoice credits nothing": Effect.gen(function* () {
    const companyId = yield* open
    const row = yield* created(companyId, 100)
    assert.deepStrictEqual(yield* read(row), row)
    yield* has(companyId, { posted: 0, held: 0 })
  }),
  "one payment found by eight workers with different deposit ids is credited once": Effect.gen(function* () {
    const companyId = yield* open
    const row = yield* created(companyId, 100)
    const proof = yield* preimage
    const seen = yield* Effect.forEach(Array.from({ length: 8 }), () => payment(row, 100, proof))
    const verdicts = yield* Effect.forEach(seen, verdict, { concurrency: "unbounded" })
    assert.deepStrictEqual(tally(verdicts), { Applied: 8 })
    assert.strictEqual((yield* (yield* Records).transactions(companyId, { limit: 10 })).length, 1)
    yield* has(companyId, { posted: 100, held: 0 })
  }),
  "C33: the received amount is credited, whatever the invoice's amount": Effect.gen(function* () {
    const companyId = yield* open
    const row = yield* created(companyId, 1000)
    const proof = yield* preimage
    const paid = yield* payment(row, 1010, proof)
    const [, { record: deposit }] = paid.writes
    yield* verdict(paid)
    assert.deepStrictEqual(yield* read(row), {
      ...row,
      status: "settled",
      received: Msat.fromSats(1010),
      preimage: proof,
      settledAtMillis: paid.atMillis
    })
    assert.deepStrictEqual(yield* found((yield* Records).deposit(companyId, deposit.id)), deposit)
    yield* has(companyId, { posted: 1010, held: 0 })
  }),
  "a second payment of an invoice is refused": Effect.gen(function* () {
    const companyId = yield* open
    const row = yield* created(companyId, 100)
    const proof = yield* preimage
    yield* verdict(yield* payment(row, 100, proof))
    assert.strictEqual(yield* unchanged(yield* payment(row, 120, proof)), "InvoiceNotPayable")
    assert.strictEqual(yield* unchanged(yield* payment(row, 100)), "InvoiceNotPayable")
    assert.strictEqual((yield* read(row)).received, Msat.fromSats(100))
    yield* has(companyId, { posted: 100, held: 0 })
  }),
  "if two payments with different amounts arrive concurrently for one invoice, only one is credited":
    Effect.gen(function* () {
      const companyId = yield* open
      const row = yield* created(companyId, 100)
      const payments = [yield* payment(row, 100), yield* payment(row, 130)]
      const verdicts = yield* Effect.forEach(payments, verdict, { concurrency: "unbounded" })
      assert.deepStrictEqual(tally(verdicts), { Applied: 1, InvoiceNotPayable: 1 })
      yield* has(companyId, { posted: verdicts[0] === "Applied" ? 100 : 130, held: 0 })
    }),
  "a payment that arrives after the invoice expired is credited": Effect.gen(function* () {
    const companyId = yield* open
    const row = yield* created(companyId, 100)
    assert.strictEqual(yield* verdict(Invoice.expired(row, row.expiresAtMillis)), "Applied")
    assert.strictEqual((yield* read(row)).status, "expired")
    assert.strictEqual(yield* unchanged(Invoice.expired(row, row.expiresAtMillis)), "Applied")
    assert.strictEqual(yield* verdict(yield* payment(row, 100)), "Applied")
    assert.strictEqual((yield* read(row)).status, "settled")
    yield* has(companyId, { posted: 100, held: 0 })
  }),
  "a canceled invoice can be closed; a later payment is credited, and the cancellation time is kept":
    Effect.gen(function* () {
      const companyId = yield* open
      const [one, other] = [yield* created(companyId, 100), yield* created(companyId, 100)]
      for (const row of [one, other]) {
        const canceled = Invoice.canceled(row, atMillis + 5)
        assert.strictEqual(yield* verdict(canceled), "Applied")
        assert.deepStrictEqual(yield* read(row), {
          ...row,
          status: "canceling",
          canceledAtMillis: atMillis + 5
        })
        assert.strictEqual(yield* unchanged(canceled), "Applied")
        assert.strictEqual(yield* unchanged(Invoice.expired(row, row.expiresAtMillis)), "Applied")
      }
      assert.strictEqual(yield* verdict(Invoice.closed(one, atMillis + 6)), "Applied")
      assert.strictEqual((yield* read(one)).status, "canceled")
      assert.strictEqual(yield* unchanged(Invoice.canceled(one, atMillis + 7)), "Applied")
      for (const row of [one, other]) {
        assert.strictEqual(yield* verdict(yield* payment(row, 100)), "Applied")
        const { status, canceledAtMillis } = yield* read(row)
        assert.deepStrictEqual([status, canceledAtMillis], ["settled", atMillis + 5])
        assert.strictEqual(yield* unchanged(Invoice.closed(row, atMillis + 6)), "Applied")
        assert.strictEqual(yield* unchanged(Invoice.canceled(row, atMillis + 8)), "InvoiceNotPayable")
      }
      yield* has(companyId, { posted: 200, held: 0 })
    }),
  "a canceled invoice cannot be claimed, and a claimed, settled or expired one cannot be canceled":
    Effect.gen(function* () {
      const [payer, payee] = [yield* companyWith(100), yield* open]
      const [canceled, claimed, settled, expired] = [
        yield* created(payee, 10),
        yield* created(payee, 10),
        yield* created(payee, 10),
        yield* created(payee, 10)
      ]
      yield* verdict(Invoice.canceled(canceled, atMillis))
      const { withdrawal, fence } = yield* begin(payer, 10)
      assert.strictEqual(
        yield* unchanged(Invoice.claimed(canceled, withdrawal.id, fence, atMillis)),
        "InvoiceNotPayable"
      )
      assert.strictEqual(yield* unchanged(Invoice.forgotten(canceled, atMillis)), "InvoiceNotPayable")
      yield* claimFor(yield* begin(payer, 10), claimed)
      yield* verdict(yield* payment(settled, 10))
      yield* verdict(Invoice.expired(expired, expired.expiresAtMillis))
      for (const row of [claimed, settled, expired])
        assert.strictEqual(yield* unchanged(Invoice.canceled(row, atMillis)), "InvoiceNotPayable")
      yield* has(payee, { posted: 10, held: 0 })
    }),
  "C20 C54: a settled invoice does not expire": Effect.gen(function* () {
    const companyId = yield* open
    const row = yield* created(companyId, 100)
    yield* verdict(yield* payment(row, 100))
    assert.strictEqual(yield* unchanged(Invoice.expired(row, row.expiresAtMillis)), "Applied")
    assert.strictEqual((yield* read(row)).status, "settled")
    yield* has(companyId, { posted: 100, held: 0 })
  }),
  "deleting an unpaid invoice removes it completely, once, and frees its hash": Effect.gen(function* () {
    const records = yield* Records
    const companyId = yield* open
    const [row, old] = [yield* created(companyId, 100), yield* created(companyId, 100)]
    yield* verdict(Invoice.expired(old, old.expiresAtMillis))
    for (const one of [row, old]) {
      const forgotten = Invoice.forgotten(one, one.expiresAtMillis)
      assert.strictEqual(yield* verdict(forgotten), "Applied")
      assert.isTrue(Option.isNone(yield* records.invoice(companyId, one.id)))
      assert.isTrue(Option.isNone(yield* records.invoiceByHash(one.paymentHash)))
      assert.strictEqual(yield* unchanged(forgotten), "Applied")
      // Another process may have read the invoice earlier and may only now record its expiry.
      assert.strictEqual(yield* unchanged(Invoice.expired(one, one.expiresAtMillis)), "Applied")
    }
    yield* created(companyId, 100, { paymentHash: row.paymentHash })
    yield* has(companyId, { posted: 0, held: 0 })
  }),
  "a claimed or settled invoice cannot be deleted": Effect.gen(function* () {
    const [payer, payee] = [yield* companyWith(100), yield* open]
    const [paid, claimed] = [yield* created(payee, 40), yield* created(payee, 40)]
    yield* verdict(yield* payment(paid, 40))
    yield* claimFor(yield* begin(payer, 40), claimed)
    for (const row of [paid, claimed]) {
      const before = yield* read(row)
      assert.strictEqual(yield* unchanged(Invoice.forgotten(row, row.expiresAtMillis)), "InvoiceNotPayable")
      assert.deepStrictEqual(yield* read(row), before)
    }
    yield* has(payee, { posted: 40, held: 0 })
  }),
  "C15: a claimed invoice belongs to one withdrawal": Effect.gen(function* () {
    const [payer, payee] = [yield* companyWith(100), yield* open]
    const [one, other] = [yield* begin(payer, 40), yield* begin(payer, 40)]
    const row = yield* created(payee, 40)
    const claimed = Invoice.claimed(row, one.withdrawal.id, one.fence, atMillis)
    assert.strictEqual(yield* verdict(claimed), "Applied")
    assert.strictEqual(yield* unchanged(claimed), "Applied")
    assert.deepStrictEqual(yield* read(row), { ...row, status: "claimed", claimedBy: one.withdrawal.id })
    assert.strictEqual(
      yield* unchanged(Invoice.claimed(row, other.withdrawal.id, other.fence, atMillis)),
      "InvoiceNotPayable"
    )
    assert.strictEqual((yield* read(row)).claimedBy, one.withdrawal.id)
    yield* has(payer, { posted: 100, held: 80 })
    yield* has(payee, { posted: 0, held: 0 })
  }),
  "C15: only the withdrawal that claimed an invoice releases it, and only until the invoice ends": Effect.gen(
    function* () {
      const [payer, payee] = [yield* companyWith(100), yield* open]
      const [one, other] = [yield* begin(payer, 40), yield* begin(payer, 40)]
      const [row, paid] = [yield* created(payee, 40), yield* created(payee, 40)]
      yield* claimFor(one, row)
      yield* claimFor(one, paid)
      const [mine, ended] = [yield* read(row), yield* read(paid)]
      yield* verdict(yield* payment(paid, 40))
      const release = Invoice.released(mine, one.withdrawal.id, one.fence, atMillis)
      assert.strictEqual(
        yield* unchanged(Invoice.released(mine, other.withdrawal.id, other.fence, atMillis)),
        "Applied"
      )
      assert.strictEqual(
        yield* unchanged(Invoice.released(ended, one.withdrawal.id, one.fence, atMillis)),
        "Applied"
      )
      assert.deepStrictEqual([yield* read(row), (yield* read(paid)).status], [mine, "settled"])
      assert.strictEqual(yield* verdict(release), "Applied")
      const released = yield* read(row)
      assert.deepStrictEqual(released, { ...mine, status: "pending" })
      assert.strictEqual(
        yield* unchanged(Invoice.claimed(row, one.withdrawal.id, one.fence, atMillis)),
        "InvoiceNotPayable"
      )
      yield* claimFor(other, released)
      assert.strictEqual(yield* unchanged(release), "Applied")
      assert.strictEqual((yield* read(row)).claimedBy, other.withdrawal.id)
      yield* has(payer, { posted: 100, held: 80 })
      yield* has(payee, { posted: 40, held: 0 })
    }
  ),
  "C15: if eight withdrawals claim one invoice concurrently, one gets it": Effect.gen(function* () {
    const [payer, payee] = [yield* companyWith(100), yield* open]
    const begun = yield* Effect.forEach(Array.from({ length: 8 }), () => begin(payer, 10))
    const row = yield* created(payee, 10)
    const verdicts = yield* Effect.forEach(
      begun,
      ({ withdrawal, fence }) => verdict(Invoice.claimed(row, withdrawal.id, fence, atMillis)),
      { concurrency: "unbounded" }
    )
    assert.deepStrictEqual(tally(verdicts), { Applied: 1, InvoiceNotPayable: 7 })
    assert.strictEqual((yield* read(row)).claimedBy, begun[verdicts.indexOf("Applied")]?.withdrawal.id)
    yield* has(payer, { posted: 100, held: 80 })
  }),
  "C15: a settled or expired invoice cannot be claimed": Effect.gen(function* () {
    const [payer, payee] = [yield* companyWith(100), yield* open]
    const { withdrawal, fence } = yield* begin(payer, 40)
    const [paid, old] = [yield* created(payee, 40), yield* created(payee, 40)]
    yield* verdict(yield* payment(paid, 40))
    yield* verdict(Invoice.expired(old, old.expiresAtMillis))
    for (const row of [paid, old]) {
      assert.strictEqual(
        yield* unchanged(Invoice.claimed(row, withdrawal.id, fence, atMillis)),
        "InvoiceNotPayable"
      )
    }
    const refusal = yield* Effect.flip(
      (yield* Journal).commit(Invoice.claimed(old, withdrawal.id, fence, atMillis))
    )
    assert.deepStrictEqual(
      { ...refusal },
      { ...new Invoice.InvoiceNotPayable({ invoiceId: old.id, status: "expired" }) }
    )
    yield* has(payer, { posted: 100, held: 40 })
    yield* has(payee, { posted: 40, held: 0 })
  }),
  "C15: a network payment of a claimed invoice is credited, and the internal transfer is refused": Effect.gen(
    function* () {
      const [payer, payee] = [yield* companyWith(100), yield* open]
      const one = yield* begin(payer, 40)
      const row = yield* created(payee, 40)
      yield* claimFor(one, row)
      const paid = yield* payment(row, 40)
      assert.strictEqual(yield* verdict(paid), "Applied")
      assert.strictEqual(yield* unchanged(yield* transfer(one, row)), "InvoiceNotPayable")
      assert.strictEqual(yield* unchanged(paid), "Applied") // reported again
      const { status, claimedBy } = yield* read(row)
      assert.deepStrictEqual({ status, claimedBy }, { status: "settled", claimedBy: null })
      yield* has(payer, { posted: 100, held: 40 })
      yield* has(payee, { posted: 40, held: 0 })
    }
  ),
  "C15: an invoice paid internally and over the network concurrently is credited once": Effect.gen(
    function* () {
      const [payer, payee] = [yield* companyWith(100), yield* open]
      const one = yield* begin(payer, 40)
      const row = yield* created(payee, 40)
      yield* claimFor(one, row)
      const inside = yield* transfer(one, row)
      // An invoice has the same preimage for every payer.
      const outside = yield* payment(row, 40, inside.settlement.preimage ?? Preimage.make(""))
      const verdicts = yield* Effect.forEach([inside, outside], verdict, { concurrency: "unbounded" })
      assert.deepStrictEqual(tally(verdicts), { Applied: 1, InvoiceNotPayable: 1 })
      yield* has(payer, verdicts[0] === "Applied" ? { posted: 60, held: 0 } : { posted: 100, held: 40 })
      yield* has(payee, { posted: 40, held: 0 })
    }
  ),
  "C15: a network payment of an internally settled invoice is a separate payment, even with the same preimage":
    Effect.gen(function* () {
      const [payer, payee] = [yield* companyWith(100), yield* open]
      const one = yield* begin(payer, 40)
      const row = yield* created(payee, 40)
      const source = `node ${yield* hex(8)}`
      yield* claimFor(one, row)
      const inside = yield* transfer(one, row)
      assert.strictEqual(yield* verdict(inside), "Applied")
      const paid = yield* payment(row, 40, inside.settlement.preimage ?? Preimage.make(""))
      const outside = { ...paid, cursor: { source, value: "1" } }
      assert.strictEqual(yield* unchanged(outside), "InvoiceNotPayable")
      assert.isNull(yield* readCursor(source))
      assert.strictEqual((yield* read(row)).claimedBy, one.withdrawal.id)
      yield* has(payee, { posted: 40, held: 0 })
    }),
  "a record with a time that is not an integer, or with a NUL or half a character in a text, is not stored":
    Effect.gen(function* () {
      const companyId = yield* open
      for (const bad of [
        { createdAtMillis: Number.NaN },
        { expiresAtMillis: 0.5 },
        { expiresAtMillis: Number.POSITIVE_INFINITY },
        { memo: "a\0b" },
        { memo: "\ud800" }
      ]) {
        const row = yield* invoice(companyId, 1, bad)
        const exit = yield* Effect.exit((yield* Journal).commit(Invoice.created(row)))
        assert.isTrue(Exit.isFailure(exit), JSON.stringify(bad))
        assert.isTrue(Option.isNone(yield* (yield* Records).invoice(companyId, row.id)), JSON.stringify(bad))
      }
      yield* created(companyId, 1)
    }),
  "C32: a payment hash belongs to one invoice": Effect.gen(function* () {
    const [companyId, otherId] = [yield* open, yield* open]
    const row = yield* created(companyId, 100)
    const crafted = yield* invoice(otherId, 1, { paymentHash: row.paymentHash })
    assert.strictEqual(yield* unchanged(Invoice.created(crafted)), "Conflict")
    assert.strictEqual((yield* found((yield* Records).invoiceByHash(row.paymentHash))).id, row.id)
    yield* has(otherId, { posted: 0, held: 0 })
  }),
  "C60: the node's read cursor moves in the same commit as the credit": Effect.gen(function* () {
    const companyId = yield* open
    const source = `node ${yield* hex(8)}`
    const row = yield* created(companyId, 100)
    const paid = yield* payment(row, 100)
    assert.isNull(yield* readCursor(source))
    yield* verdict({ ...paid, cursor: { source, value: "7" } })
    assert.strictEqual(yield* readCursor(source), "7")
    // After a restart, the payment is read again. It was already credited, but the cursor still advances.
    assert.strictEqual(yield* verdict({ ...paid, cursor: { source, value: "8" } }), "Applied")
    assert.strictEqual(yield* readCursor(source), "8")
    assert.strictEqual(
      yield* unchanged({ ...(yield* payment(row, 120)), cursor: { source, value: "9" } }),
      "InvoiceNotPayable"
    )
    assert.strictEqual(yield* readCursor(source), "8")
    yield* has(companyId, { posted: 100, held: 0 })
  }),
  "C60: a repeated credit does not move the node's cursor if another process has taken over the reader's role":
    Effect.gen(function* () {
      const [companyId, other] = [yield* open, yield* companyWith(100)]
      const source = `node ${yield* hex(8)}`
      const paid = yield* payment(yield* created(companyId, 100), 100)
      const { fence } = yield* begin(other, 10)
      yield* verdict({ ...paid, cursor: { source, value: "7" }, fence })
      const overtaken = { ...fence, token: fence.token - 1 }
      assert.strictEqual(
        yield* verdict({ ...paid, cursor: { source, value: "6" }, fence: overtaken }),
        "Applied"
      )
      assert.strictEqual(yield* readCursor(source), "7")
      assert.strictEqual(yield* verdict({ ...paid, cursor: { source, value: "8" }, fence }), "Applied")
      assert.strictEqual(yield* readCursor(source), "8")
      yield* has(companyId, { posted: 100, held: 0 })
    }),
  "C60: when several credits are committed together, the last one sets the node's read cursor": Effect.gen(
    function* () {
      const companyId = yield* open
      const source = `node ${yield* hex(8)}`
      const paid = yield* Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8], () =>
        Effect.flatMap(created(companyId, 10), (row) => payment(row, 10))
      )
      yield* Effect.forEach(paid, (one, at) => verdict({ ...one, cursor: { source, value: String(at) } }), {
        concurrency: "unbounded"
      })
      assert.strictEqual(yield* readCursor(source), "7")
      yield* has(companyId, { posted: 80, held: 0 })
    }
  ),
  "C60: the node's read cursor can move without a credit": Effect.gen(function* () {
    const [source, another] = [`node ${yield* hex(8)}`, `node ${yield* hex(8)}`]
    for (const value of ["1", "2", "2"]) {
      assert.strictEqual(yield* verdict(Cursor.moved({ source, value }, yield* Id.make, atMillis)), "Applied")
      assert.strictEqual(yield* readCursor(source), value)
    }
    assert.isNull(yield* readCursor(another))
    yield* has(CompanyId.operator, { posted: 0, held: 0 })
  }),
  "a payment without an invoice is put in suspense once and belongs to no company": Effect.gen(function* () {
    const companyId = yield* companyWith(10)
    const source = `node ${yield* hex(8)}`
    const row = yield* stray(companyId, 30)
    const change = Invoice.unmatched(row, { cursor: { source, value: "3" } })
    assert.deepStrictEqual(yield* booked(verdict(change)), { node: -30, suspense: 30 })
    assert.strictEqual(yield* unchanged(change), "Applied")
    assert.strictEqual(
      yield* unchanged(Invoice.unmatched({ ...row, createdAtMillis: atMillis + 1 })),
      "Applied"
    )
    assert.strictEqual(
      yield* unchanged(Invoice.unmatched({ ...row, received: Msat.fromSats(31) })),
      "Conflict"
    )
    assert.strictEqual(yield* readCursor(source), "3")
    yield* has(companyId, { posted: 10, held: 0 })
  })
} satisfies Promises<Journal | Records | Tasks>

/** Guarantees about the fields of an invoice and its Lightning address. */
export const other = {
  "a Lightning address stores the time of its last payment": Effect.gen(function* () {
    const companyId = yield* open
    const address = yield* lightningAddress(companyId)
    yield* verdict(LightningAddress.created(address))
    const row = yield* created(companyId, 100, { lightningAddressId: address.id })
    const paid = { ...(yield* payment(row, 100)), atMillis: address.createdAtMillis + 5 }
    yield* verdict(paid)
    assert.deepStrictEqual(
      yield* found(
        (yield* Records).named(LightningAddress.noun, { handle: address.handle, domain: address.domain })
      ),
      {
        ...address,
        lastUsedAtMillis: paid.atMillis,
        updatedAtMillis: paid.atMillis
      }
    )
    yield* has(companyId, { posted: 100, held: 0 })
  })
} satisfies Promises<Journal | Records | Tasks>
