import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Invoice from "@satrail/core/receiving/Invoice"
import { Records } from "@satrail/core/service/Records"
import { Effect } from "effect"
import type { Promises } from "../Contract.ts"
import { created, found, open, payment, preimage, unchanged, verdict } from "../Fixtures.ts"
import { has } from "../Ledger.ts"

const atMillis = 1_700_000_000_000

const read = Effect.fnUntraced(function* ({ companyId, id }: Invoice.Invoice) {
  return yield* found((yield* Records).invoice(companyId, id))
})

/** Guarantees about hold invoices, which have no effect on a company's money until they settle. */
export const money = {
  "a held payment belongs to no company until it settles, and is then credited once": Effect.gen(
    function* () {
      const companyId = yield* open
      const row = yield* created(companyId, 100, { hold: "company" })
      assert.strictEqual(yield* unchanged(Invoice.settling(row, null, atMillis)), "InvoiceNotPayable")
      const held = Invoice.held(
        row,
        { held: Msat.fromSats(100), heldUntilMillis: atMillis + 9 },
        atMillis + 1
      )
      assert.strictEqual(yield* verdict(held), "Applied")
      const ofHeld = {
        ...row,
        status: "held" as const,
        held: Msat.fromSats(100),
        heldUntilMillis: atMillis + 9
      }
      assert.deepStrictEqual(yield* read(row), ofHeld)
      assert.strictEqual(yield* unchanged(held), "Applied")
      assert.strictEqual(yield* unchanged(Invoice.expired(row, row.expiresAtMillis)), "Applied")
      yield* has(companyId, { posted: 0, held: 0 })
      const proof = yield* preimage
      assert.strictEqual(yield* verdict(Invoice.settling(row, proof, atMillis + 2)), "Applied")
      assert.deepStrictEqual(yield* read(row), { ...ofHeld, status: "settling", preimage: proof })
      assert.strictEqual(yield* unchanged(Invoice.settling(row, proof, atMillis + 3)), "Applied")
      assert.strictEqual(yield* unchanged(Invoice.canceled(row, atMillis + 3)), "InvoiceNotPayable")
      yield* has(companyId, { posted: 0, held: 0 })
      const paid = yield* payment(row, 100)
      assert.strictEqual(yield* verdict(paid), "Applied")
      assert.strictEqual(yield* unchanged(paid), "Applied")
      assert.strictEqual(yield* unchanged(Invoice.returned(row, atMillis + 4)), "Applied")
      assert.strictEqual((yield* read(row)).status, "settled")
      yield* has(companyId, { posted: 100, held: 0 })
    }
  ),
  "C54: a held payment that was canceled or returned cannot be settled, and a settled one cannot be canceled":
    Effect.gen(function* () {
      const companyId = yield* open
      const [canceled, returned, late] = [
        yield* created(companyId, 10, { hold: "node" }),
        yield* created(companyId, 10, { hold: "node" }),
        yield* created(companyId, 10, { hold: "node" })
      ]
      for (const row of [canceled, returned, late])
        yield* verdict(Invoice.held(row, { held: Msat.fromSats(10), heldUntilMillis: atMillis }, atMillis))
      assert.strictEqual(yield* verdict(Invoice.canceled(canceled, atMillis + 1)), "Applied")
      yield* verdict(Invoice.settling(returned, yield* preimage, atMillis + 1))
      assert.strictEqual(yield* verdict(Invoice.returned(returned, atMillis + 2)), "Applied")
      const { status, preimage: kept, canceledAtMillis } = yield* read(returned)
      assert.deepStrictEqual([status, kept, canceledAtMillis], ["canceled", null, atMillis + 2])
      for (const row of [canceled, returned])
        assert.strictEqual(yield* unchanged(Invoice.settling(row, null, atMillis + 3)), "InvoiceNotPayable")
      yield* verdict(Invoice.canceled(late, atMillis + 1))
      yield* verdict(Invoice.closed(late, atMillis + 2))
      assert.strictEqual(
        yield* unchanged(
          Invoice.held(late, { held: Msat.fromSats(10), heldUntilMillis: atMillis }, atMillis)
        ),
        "Applied"
      )
      yield* has(companyId, { posted: 0, held: 0 })
    })
} satisfies Promises<Journal | Records | Tasks>
