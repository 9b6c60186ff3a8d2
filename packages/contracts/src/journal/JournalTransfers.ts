import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect, Option } from "effect"
import type { Promises } from "../Contract.ts"
import {
  arrival,
  begin,
  claimFor,
  companyWith,
  created,
  found,
  lightningAddress,
  lightningAttempt,
  open,
  tally,
  transfer,
  unchanged,
  verdict
} from "../Fixtures.ts"
import { booked, has } from "../Ledger.ts"

const fees = { serviceFee: Msat.fromSats(5) }

/** A withdrawal of one company, and an invoice of the other company that it has claimed. */
const claimed = Effect.fnUntraced(function* (
  payer: CompanyId.CompanyId,
  payee: CompanyId.CompanyId,
  sats: number,
  fields: Partial<Withdrawal.Withdrawal> = {}
) {
  const one = yield* begin(payer, sats, fields)
  const row = yield* created(payee, sats)
  yield* claimFor(one, row)
  return { one, row, change: yield* transfer(one, row) }
})

/** Guarantees about how a payment between two companies affects the money of both. */
export const money = {
  "C17: a transfer debits the payer, credits the payee and posts the operator's fee": Effect.gen(
    function* () {
      const [payer, payee] = [yield* companyWith(100), yield* open]
      const { one, row, change } = yield* claimed(payer, payee, 40, fees)
      assert.deepStrictEqual(yield* booked(verdict(change)), { held: -45, available: 40, service_fees: 5 })
      const records = yield* Records
      const { preimage } = change.settlement
      assert.deepStrictEqual(yield* found(records.withdrawal(payer, one.withdrawal.id)), {
        ...one.withdrawal,
        ...change.settlement,
        status: "settled",
        paymentHash: row.paymentHash,
        paymentRequest: row.paymentRequest,
        updatedAtMillis: change.atMillis
      })
      assert.deepStrictEqual(yield* found(records.invoice(payee, row.id)), {
        ...row,
        status: "settled",
        claimedBy: one.withdrawal.id,
        received: Msat.fromSats(40),
        preimage,
        settledAtMillis: change.atMillis
      })
      assert.deepStrictEqual(yield* found(records.deposit(payee, change.deposit.id)), change.deposit)
      assert.strictEqual((yield* found(records.withdrawalByHash(row.paymentHash))).id, one.withdrawal.id)
      yield* has(payer, { posted: 55, held: 0 })
      yield* has(payee, { posted: 40, held: 0 })
    }
  ),
  "C17: repeating a transfer, even concurrently, moves the money once": Effect.gen(function* () {
    const [payer, payee] = [yield* companyWith(100), yield* open]
    const { change } = yield* claimed(payer, payee, 40)
    const verdicts = yield* Effect.forEach(Array.from({ length: 8 }), () => verdict(change), {
      concurrency: "unbounded"
    })
    assert.deepStrictEqual(tally(verdicts), { Applied: 8 })
    assert.strictEqual(yield* unchanged(change), "Applied")
    yield* has(payer, { posted: 60, held: 0 })
    yield* has(payee, { posted: 40, held: 0 })
  }),
  "C17: a transfer to an invoice that the withdrawal has not claimed moves no money": Effect.gen(
    function* () {
      const [payer, payee] = [yield* companyWith(100), yield* open]
      const { one, row } = yield* claimed(payer, payee, 40)
      const [free, stranger] = [yield* created(payee, 40), yield* begin(payer, 40)]
      assert.strictEqual(yield* unchanged(yield* transfer(one, free)), "InvoiceNotPayable")
      assert.strictEqual(yield* unchanged(yield* transfer(stranger, row)), "InvoiceNotPayable")
      yield* verdict(Invoice.expired(row, row.expiresAtMillis))
      const late = yield* transfer(one, row)
      assert.strictEqual(yield* unchanged(late), "InvoiceNotPayable")
      assert.isTrue(Option.isNone(yield* (yield* Records).deposit(payee, late.deposit.id)))
      yield* has(payer, { posted: 100, held: 80 })
      yield* has(payee, { posted: 0, held: 0 })
    }
  ),
  "C17: a transfer of an ended withdrawal moves no money": Effect.gen(function* () {
    const [payer, payee] = [yield* companyWith(100), yield* open]
    const { one, change } = yield* claimed(payer, payee, 40)
    yield* verdict(Withdrawal.failed(one.withdrawal, "canceled", one.fence, change.atMillis))
    assert.strictEqual(yield* unchanged(change), "AlreadyTerminal")
    yield* has(payer, { posted: 100, held: 0 })
    yield* has(payee, { posted: 0, held: 0 })
  }),
  "a transferred withdrawal cannot be transferred, failed or dispatched again": Effect.gen(function* () {
    const [payer, payee, another] = [yield* companyWith(100), yield* open, yield* open]
    const { one, change } = yield* claimed(payer, payee, 40)
    yield* verdict(change)
    assert.strictEqual(yield* unchanged(yield* transfer(one, yield* created(another, 40))), "AlreadyTerminal")
    assert.strictEqual(
      yield* unchanged(Withdrawal.failed(one.withdrawal, "canceled", one.fence, change.atMillis)),
      "AlreadyTerminal"
    )
    assert.strictEqual(
      yield* unchanged(
        Withdrawal.dispatched(one.withdrawal, yield* lightningAttempt, one.fence, change.atMillis)
      ),
      "AlreadyTerminal"
    )
    yield* has(payer, { posted: 60, held: 0 })
    yield* has(payee, { posted: 40, held: 0 })
    yield* has(another, { posted: 0, held: 0 })
  }),
  "C17: when a withdrawal is transferred and failed concurrently, both companies see the same outcome":
    Effect.gen(function* () {
      const [payer, payee] = [yield* companyWith(100), yield* open]
      const { one, change } = yield* claimed(payer, payee, 40)
      const failed = Withdrawal.failed(one.withdrawal, "canceled", one.fence, change.atMillis)
      const verdicts = yield* Effect.forEach([failed, change], verdict, { concurrency: "unbounded" })
      assert.deepStrictEqual(tally(verdicts), { Applied: 1, AlreadyTerminal: 1 })
      const paid = verdicts[1] === "Applied"
      yield* has(payer, { posted: paid ? 60 : 100, held: 0 })
      yield* has(payee, { posted: paid ? 40 : 0, held: 0 })
    }),
  "C14: an invoice cannot be settled internally if another withdrawal pays its hash": Effect.gen(
    function* () {
      const [payer, payee] = [yield* companyWith(100), yield* open]
      const other = yield* begin(payer, 40)
      const { row, change } = yield* claimed(payer, payee, 40)
      const { paymentHash, paymentRequest } = row
      yield* verdict(
        Withdrawal.dispatched(
          other.withdrawal,
          { _tag: "Lightning", paymentHash, paymentRequest, successAction: null },
          other.fence,
          change.atMillis
        )
      )
      assert.strictEqual(yield* unchanged(change), "InvoiceNotPayable")
      yield* has(payer, { posted: 100, held: 80 })
      yield* has(payee, { posted: 0, held: 0 })
    }
  ),
  "C31: a company that pays itself loses only the fee": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const { change } = yield* claimed(companyId, companyId, 40, fees)
    assert.strictEqual(yield* verdict(change), "Applied")
    assert.strictEqual(yield* unchanged(change), "Applied")
    yield* has(companyId, { posted: 95, held: 0 })
  }),
  "many concurrent payments between two companies add up exactly": Effect.gen(function* () {
    const [a, b] = [yield* companyWith(100), yield* companyWith(100)]
    const changes = yield* Effect.forEach(Array.from({ length: 48 }), (_, n) =>
      Effect.map(n % 2 === 0 ? claimed(a, b, 3) : claimed(b, a, 2), ({ change }) => change)
    )
    const verdicts = yield* Effect.forEach(changes, verdict, { concurrency: "unbounded" })
    assert.deepStrictEqual(tally(verdicts), { Applied: 48 })
    yield* has(a, { posted: 76, held: 0 })
    yield* has(b, { posted: 124, held: 0 })
  }),
  "money received internally can be spent immediately": Effect.gen(function* () {
    const [payer, payee, last] = [yield* companyWith(40), yield* open, yield* open]
    yield* verdict((yield* claimed(payer, payee, 40)).change)
    yield* verdict((yield* claimed(payee, last, 40)).change)
    yield* has(payer, { posted: 0, held: 0 })
    yield* has(payee, { posted: 0, held: 0 })
    yield* has(last, { posted: 40, held: 0 })
  }),
  "a payment to a Lightning address can settle internally without an invoice": Effect.gen(function* () {
    const [payer, payee] = [yield* companyWith(100), yield* open]
    const address = yield* lightningAddress(payee)
    yield* verdict(LightningAddress.created(address))
    const { withdrawal, fence } = yield* begin(payer, 40, { recipientType: "lightning_address" })
    const atMillis = address.createdAtMillis + 5
    const deposit = yield* arrival(payee, 40)
    const change = Withdrawal.transferred(
      withdrawal,
      { deposit, invoice: null, preimage: null, lightningAddressId: address.id },
      fence,
      atMillis
    )
    assert.strictEqual(yield* verdict(change), "Applied")
    assert.strictEqual(yield* unchanged(change), "Applied")
    const records = yield* Records
    assert.deepStrictEqual(yield* found(records.withdrawal(payer, withdrawal.id)), {
      ...withdrawal,
      status: "settled",
      networkFee: Msat.zero,
      updatedAtMillis: atMillis
    })
    assert.deepStrictEqual(
      yield* found(records.named(LightningAddress.noun, { handle: address.handle, domain: address.domain })),
      {
        ...address,
        lastUsedAtMillis: atMillis,
        updatedAtMillis: atMillis
      }
    )
    yield* has(payer, { posted: 60, held: 0 })
    yield* has(payee, { posted: 40, held: 0 })
  })
} satisfies Promises<Journal | Records | Tasks>
