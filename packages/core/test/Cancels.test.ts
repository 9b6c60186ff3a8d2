import { assert, describe } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { type Lacking, LightningReceiver, NodeUnavailable } from "../src/nodes/LightningReceiver.ts"
import { Invoices } from "../src/receiving/Invoices.ts"
import type { Invoice } from "../src/receiving/Invoice.ts"
import * as LookupSchedule from "../src/receiving/LookupSchedule.ts"
import { Records } from "../src/service/Records.ts"
import {
  company,
  companyWith,
  confirm,
  has,
  invoice,
  poll,
  replace,
  said,
  scenario,
  standing,
  steps
} from "./World.ts"

// An invoice's cancellation is committed here, then sent to the node. The node may be down or unable to cancel,
// or the invoice may already be paid.

const cancel = ({ companyId, id }: Invoice) =>
  Effect.flatMap(Invoices, (invoices) => invoices.cancel(companyId, id))
const stands = ({ companyId, id }: Invoice) =>
  Effect.flatMap(Invoices, (invoices) => Effect.map(invoices.get(companyId, id), ({ standing }) => standing))
const stored = ({ companyId, id }: Invoice) =>
  Effect.flatMap(Records, (records) =>
    Effect.map(records.invoice(companyId, id), (row) => Option.getOrThrow(row).status)
  )
const pay = ({ paymentRequest }: Invoice, hold = false) =>
  Effect.flatMap(Sandbox, (sandbox) => sandbox.pay({ paymentRequest, hold }))
/** The reason for the refusal. */
const refused = (row: Invoice) =>
  Effect.map(Effect.flip(cancel(row)), (error) =>
    error._tag === "InvoiceNotPayable" ? error.status : error._tag
  )
const told = Effect.gen(function* () {
  const events = yield* (yield* Records).events(0n, 1000)
  return events.map(({ type }) => type).filter((type) => type === "invoice.canceled")
})

/**
 * A node that lacks these features and does not respond to requests to cancel. `world.asked` counts the calls.
 */
const node = (lacks: ReadonlyArray<Lacking> = []) => {
  const world = { isAway: true, asked: 0 }
  const change = replace(LightningReceiver, (receiver) => ({
    lacks: new Set(lacks),
    cancelInvoice: (hash) =>
      Effect.suspend(() => {
        world.asked++
        return world.isAway
          ? Effect.fail(new NodeUnavailable({ operation: "cancelInvoice", cause: new Error("away") }))
          : receiver.cancelInvoice(hash)
      })
  }))
  return { change, world }
}

const unheld = (posted: number) => ({ posted, held: 0 })

describe("Canceling an invoice", () => {
  scenario(
    "cancel: a canceled invoice cannot be paid externally or internally; its company gets one event, and canceling again changes nothing",
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const row = yield* invoice(payee, 1000)
      const { standing, canceledAtMillis } = yield* cancel(row)
      assert.strictEqual(standing, "canceled")
      assert.isNotNull(canceledAtMillis)
      assert.strictEqual(yield* stored(row), "canceled")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* cancel(row)).canceledAtMillis, canceledAtMillis)
      assert.deepStrictEqual(yield* told, ["invoice.canceled"])
      assert.strictEqual((yield* (yield* LightningReceiver).lookupInvoice(row.paymentHash))._tag, "canceled")
      yield* Effect.flip(pay(row))
      assert.strictEqual(
        yield* said(confirm(payer, row.paymentRequest)),
        "DestinationRefused: invoice_not_payable"
      )
      yield* TestClock.adjust("3 days")
      yield* poll
      assert.strictEqual(yield* stands(row), "canceled")
      assert.deepStrictEqual(yield* has(payee), { posted: 0, held: 0 })
    }
  )

  scenario(
    "cancel: an invoice canceled while the node is down is closed at the node when the node recovers",
    node,
    function* ({ world }) {
      const row = yield* invoice(yield* company(), 1000)
      assert.strictEqual((yield* cancel(row)).standing, "canceled")
      assert.deepStrictEqual([world.asked, yield* stored(row)], [1, "canceling"])
      yield* poll
      assert.deepStrictEqual([world.asked, yield* stored(row)], [2, "canceling"])
      world.isAway = false
      yield* poll
      assert.deepStrictEqual([world.asked, yield* stored(row)], [3, "canceled"])
      yield* Effect.flip(pay(row))
      yield* poll
      assert.strictEqual(world.asked, 3)
      assert.deepStrictEqual(yield* told, ["invoice.canceled"])
    }
  )

  scenario(
    "cancel: canceling again closes the invoice at a node that was down the first time",
    node,
    function* ({ world }) {
      const row = yield* invoice(yield* company(), 1000)
      yield* cancel(row)
      world.isAway = false
      yield* cancel(row)
      assert.deepStrictEqual([world.asked, yield* stored(row)], [2, "canceled"])
    }
  )

  scenario(
    "C54: cancel: a payment that was on its way when its invoice was canceled is credited, and the invoice records the cancellation",
    function* () {
      const payee = yield* company()
      const row = yield* invoice(payee, 1000)
      yield* pay(row, true)
      const { canceledAtMillis } = yield* cancel(row)
      assert.strictEqual(yield* stored(row), "canceling")
      yield* (yield* Sandbox).release({ paymentHash: row.paymentHash, outcome: "settle" })
      yield* poll
      const after = yield* (yield* Invoices).get(payee.id, row.id)
      assert.deepStrictEqual(
        [after.standing, after.received, after.canceledAtMillis],
        ["settled", Msat.fromSats(1000), canceledAtMillis]
      )
      assert.isNotNull(after.depositId)
      assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
      assert.strictEqual(yield* refused(row), "settled")
    }
  )

  scenario(
    "C54: cancel: a payment of a canceled invoice is still credited if the node cannot close the invoice",
    () => node(["cancel"]),
    function* ({ world }) {
      const payee = yield* company()
      const [paid, unpaid] = [yield* invoice(payee, 1000, 60), yield* invoice(payee, 10, 60)]
      yield* cancel(paid)
      yield* cancel(unpaid)
      yield* pay(paid)
      yield* poll
      assert.deepStrictEqual([yield* stands(paid), yield* stands(unpaid)], ["settled", "canceled"])
      assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
      yield* TestClock.adjust(60_000 + LookupSchedule.defaults.expiredGraceMillis)
      yield* poll
      assert.strictEqual(yield* stored(unpaid), "canceling")
      yield* TestClock.adjust(1)
      yield* poll
      assert.strictEqual(yield* stored(unpaid), "canceled")
      assert.deepStrictEqual(yield* (yield* Records).openInvoices(null, 10), [])
      assert.strictEqual(world.asked, 0)
    }
  )

  scenario(
    "cancel: a request to cancel is refused, without calling the node, if the invoice was paid, is being paid internally, or has expired",
    () => ({ ...node(), logsErrors: true }),
    function* ({ world }) {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const [paid, claimed, late] = [
        yield* invoice(payee, 10),
        yield* invoice(payee, 20),
        yield* invoice(payee, 30, 60)
      ]
      yield* pay(paid)
      yield* poll
      assert.strictEqual(yield* refused(paid), "settled")
      const withdrawal = yield* confirm(payer, claimed.paymentRequest)
      yield* steps(1)
      assert.deepStrictEqual([yield* standing(withdrawal), yield* stored(claimed)], ["pending", "claimed"])
      assert.strictEqual(yield* refused(claimed), "accepted")
      yield* TestClock.adjust("1 minute")
      const asked = world.asked
      assert.strictEqual(yield* refused(late), "expired")
      assert.strictEqual(world.asked, asked)
      world.isAway = false
      yield* steps(2)
      assert.deepStrictEqual(yield* told, [])
    }
  )

  scenario(
    "own invoices: a withdrawal that pays an invoice internally fails if the node has lost the invoice, which then expires",
    () => {
      const world = { isLost: false }
      const lost = Effect.fail(
        new NodeUnavailable({ operation: "cancelInvoice", cause: "the invoice is missing" })
      )
      const change = replace(LightningReceiver, (receiver) => ({
        cancelInvoice: (hash) => Effect.suspend(() => (world.isLost ? lost : receiver.cancelInvoice(hash))),
        lookupInvoice: (hash) =>
          Effect.suspend(() =>
            world.isLost ? Effect.succeed({ _tag: "unknown" }) : receiver.lookupInvoice(hash)
          )
      }))
      return { change, world }
    },
    function* ({ world }) {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const row = yield* invoice(payee, 1000)
      world.isLost = true
      const withdrawal = yield* confirm(payer, row.paymentRequest)
      yield* steps(2)
      assert.strictEqual(yield* standing(withdrawal), "failed: invoice_not_payable")
      assert.deepStrictEqual([yield* has(payer), yield* has(payee)], [unheld(5000), unheld(0)])
      yield* TestClock.adjust("2 days")
      yield* poll
      assert.strictEqual(yield* stored(row), "expired")
    }
  )
})
