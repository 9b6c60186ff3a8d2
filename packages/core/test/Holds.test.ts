import { assert, describe } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Context, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { Journal } from "../src/ledger/Journal.ts"
import { LightningReceiver, NodeUnavailable } from "../src/nodes/LightningReceiver.ts"
import { Holds } from "../src/receiving/Holds.ts"
import * as Invoice from "../src/receiving/Invoice.ts"
import { Invoices } from "../src/receiving/Invoices.ts"
import * as LookupSchedule from "../src/receiving/LookupSchedule.ts"
import type { Company } from "../src/accounts/Company.ts"
import { Records } from "../src/service/Records.ts"
import {
  asked,
  company,
  companyWith,
  confirm,
  has,
  made,
  mine,
  type Ports,
  replace,
  said,
  scenario
} from "./World.ts"

// Hold invoices: the node holds the payment until the company settles or cancels it. The payment is credited
// only when the node reports it settled.

const preimage = Preimage.make("0b".repeat(32))
const paymentHash = Preimage.hashOf(preimage)

const create = Effect.fnUntraced(function* (
  payee: Company,
  hold: { readonly paymentHash: typeof paymentHash | null } = { paymentHash: null }
) {
  const amount = yield* asked(1000)
  return yield* (yield* Invoices).create({
    companyId: payee.id,
    ...amount,
    description: "tea",
    expirySeconds: 3600,
    metadata: {},
    hold
  })
})
const holdInvoice = (payee: Company, hash: typeof paymentHash | null = null) =>
  made(create(payee, { paymentHash: hash }))
const pay = ({ paymentRequest }: Invoice.Invoice) =>
  Effect.flatMap(Sandbox, (sandbox) => sandbox.pay({ paymentRequest }))
const step = Effect.flatMap(Holds, ({ step }) => step)
/** Advances the clock until the invoice is due for a lookup, and runs a step. */
const later = Effect.andThen(TestClock.adjust(LookupSchedule.holdInvoices.mostMillis), step)
const get = ({ companyId, id }: Invoice.Invoice) =>
  Effect.flatMap(Invoices, (invoices) => invoices.get(companyId, id))
const settle = ({ companyId, id }: Invoice.Invoice, given: Preimage.Preimage | null = null) =>
  Effect.flatMap(Invoices, (invoices) => invoices.settle(companyId, id, given))
const cancel = ({ companyId, id }: Invoice.Invoice) =>
  Effect.flatMap(Invoices, (invoices) => invoices.cancel(companyId, id))
const stored = ({ companyId, id }: Invoice.Invoice) =>
  Effect.flatMap(Records, (records) => Effect.map(records.invoice(companyId, id), Option.getOrThrow))
const statusOf = (row: Invoice.Invoice) => Effect.map(stored(row), ({ status }) => status)
const told = Effect.gen(function* () {
  const events = yield* (yield* Records).events(0n, 1000)
  return events
    .map(({ type }) => type)
    .filter((type) => type.startsWith("invoice.") && type !== "invoice.created")
})
/** The invoice's state at the node. */
const atNode = ({ paymentHash }: Invoice.Invoice) =>
  Effect.flatMap(LightningReceiver, (receiver) =>
    Effect.map(receiver.lookupInvoice(paymentHash), ({ _tag }) => _tag)
  )
/** The reason for the refusal. */
const why = <A, E extends { readonly _tag: string }, R>(refused: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(refused), (error) =>
    "status" in error ? `${error._tag}: ${String(error.status)}` : error._tag
  )
const none = { posted: 0, held: 0 }

/** A node that is unreachable while `isAway` is true. */
const node = () => {
  const world = { isAway: false }
  const reached = <A, E>(told: Effect.Effect<A, E>) =>
    Effect.suspend((): Effect.Effect<A, E | NodeUnavailable> =>
      world.isAway ? Effect.fail(new NodeUnavailable({ operation: "told", cause: new Error("away") })) : told
    )
  const change = replace(LightningReceiver, (receiver) => ({
    lookupInvoice: (hash) => reached(receiver.lookupInvoice(hash)),
    ...(receiver.holding && {
      holding: {
        ...receiver.holding,
        settle: (hold, given) => reached(receiver.holding?.settle(hold, given) ?? Effect.die("holds")),
        cancel: (hold) => reached(receiver.holding?.cancel(hold) ?? Effect.die("holds"))
      }
    })
  }))
  return { change, world }
}

/** Creates a hold invoice that was paid and is recorded as held. */
const heldFor = Effect.fnUntraced(function* (payee: Company, hash: typeof paymentHash | null = null) {
  const row = yield* holdInvoice(payee, hash)
  yield* pay(row)
  yield* later
  assert.strictEqual(yield* statusOf(row), "held")
  return yield* stored(row)
})

describe("Hold invoices", () => {
  scenario("hold: a payment is credited only when its company settles it, and only once", function* () {
    const payee = yield* company()
    const row = yield* holdInvoice(payee)
    yield* later
    assert.strictEqual((yield* get(row)).standing, "open")
    assert.strictEqual(yield* step, 0, "the next lookup is due later")
    yield* pay(row)
    yield* later
    const held = yield* get(row)
    assert.deepStrictEqual(
      [held.standing, held.held, held.received, held.preimage],
      ["accepted", Msat.fromSats(1000), null, null]
    )
    assert.isAbove(held.heldUntilMillis ?? 0, held.createdAtMillis + 6 * 3600 * 1000)
    assert.deepStrictEqual(yield* has(payee), none)
    for (const _ of [1, 2]) {
      const { standing, received, preimage } = yield* settle(row)
      assert.deepStrictEqual([standing, received], ["settled", Msat.fromSats(1000)])
      assert.isTrue(preimage !== null && Preimage.proves(preimage, row.paymentHash))
    }
    assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
    assert.deepStrictEqual(yield* told, ["invoice.held", "invoice.settled"])
    assert.strictEqual(yield* later, 0)
  })

  scenario("hold: a payment that the service first sees as settled is credited normally", function* () {
    const payee = yield* company()
    const row = yield* holdInvoice(payee)
    yield* pay(row)
    assert.strictEqual((yield* settle(row)).standing, "settled")
    assert.deepStrictEqual(yield* told, ["invoice.held", "invoice.settled"])
    assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
  })

  scenario("hold: a canceled payment is returned and never settled", function* () {
    const payee = yield* company()
    const row = yield* heldFor(payee)
    for (const _ of [1, 2]) assert.strictEqual((yield* cancel(row)).standing, "canceled")
    assert.deepStrictEqual([yield* statusOf(row), yield* atNode(row)], ["canceled", "canceled"])
    assert.strictEqual(yield* why(settle(row)), "InvoiceNotHeld: canceled")
    assert.deepStrictEqual(yield* has(payee), none)
    assert.deepStrictEqual(yield* told, ["invoice.held", "invoice.canceled"])
    assert.strictEqual(yield* later, 0)
  })

  scenario(
    "hold: an invoice that is settled and canceled concurrently ends in the same state in the ledger and at the node",
    function* () {
      const payee = yield* company()
      for (const first of ["settle", "cancel"] as const) {
        const row = yield* heldFor(payee)
        const [settles, cancels] = [Effect.isSuccess(settle(row)), Effect.isSuccess(cancel(row))]
        const ends = yield* Effect.all(first === "settle" ? [settles, cancels] : [cancels, settles], {
          concurrency: 2
        })
        assert.sameMembers(ends, [true, false])
        assert.strictEqual(yield* atNode(row), yield* statusOf(row))
      }
    }
  )

  scenario(
    "hold: if an invoice is settled while the node is down, nothing is credited until the node has the money, and canceling is refused",
    node,
    function* ({ world }) {
      const payee = yield* company()
      const row = yield* heldFor(payee, paymentHash)
      world.isAway = true
      assert.strictEqual((yield* settle(row, preimage)).standing, "accepted")
      yield* later
      assert.deepStrictEqual([yield* statusOf(row), yield* has(payee)], ["settling", none])
      assert.strictEqual(yield* why(cancel(row)), "InvoiceNotPayable: accepted")
      world.isAway = false
      yield* later
      assert.deepStrictEqual(
        [yield* statusOf(row), yield* has(payee)],
        ["settled", { posted: 1000, held: 0 }]
      )
    }
  )

  scenario(
    "hold: if an invoice is canceled while the node is down, its payment is returned when the node recovers, and settling is refused",
    node,
    function* ({ world }) {
      const payee = yield* company()
      const row = yield* heldFor(payee)
      world.isAway = true
      assert.strictEqual((yield* cancel(row)).standing, "canceled")
      yield* later
      assert.deepStrictEqual(
        [yield* statusOf(row), yield* why(settle(row))],
        ["canceling", "InvoiceNotHeld: canceled"]
      )
      world.isAway = false
      yield* later
      assert.deepStrictEqual(
        [yield* statusOf(row), yield* atNode(row), yield* has(payee)],
        ["canceled", "canceled", none]
      )
    }
  )

  scenario(
    "hold: an unsettled payment is returned well before its HTLCs expire, and can no longer be settled",
    function* () {
      const payee = yield* company()
      const row = yield* heldFor(payee)
      const { _tag, ...state } = yield* (yield* LightningReceiver).lookupInvoice(row.paymentHash)
      const blocksLeft = "held" in state ? (state.held?.blocksLeft ?? 0) : 0
      yield* mine(blocksLeft - LookupSchedule.holdInvoices.marginBlocks - 1)
      yield* later
      assert.strictEqual(yield* statusOf(row), "held")
      yield* mine(1)
      yield* later
      assert.deepStrictEqual([yield* statusOf(row), yield* atNode(row)], ["canceled", "canceled"])
      assert.strictEqual(yield* why(settle(row)), "InvoiceNotHeld: canceled")
      assert.deepStrictEqual(yield* told, ["invoice.held", "invoice.canceled"])
    }
  )

  scenario(
    "hold: an invoice whose payment the node no longer holds is canceled, and no other payment can take its place",
    () => {
      const world = { isLost: false }
      const change = replace(LightningReceiver, (receiver) => ({
        lookupInvoice: (hash) =>
          Effect.suspend(() =>
            world.isLost ? Effect.succeed({ _tag: "open" } as const) : receiver.lookupInvoice(hash)
          )
      }))
      return { change, world }
    },
    function* ({ world }) {
      const row = yield* heldFor(yield* company())
      world.isLost = true
      yield* later
      world.isLost = false
      assert.deepStrictEqual([yield* statusOf(row), yield* atNode(row)], ["canceled", "canceled"])
      assert.strictEqual(yield* why(settle(row)), "InvoiceNotHeld: canceled")
      assert.deepStrictEqual(yield* told, ["invoice.held", "invoice.canceled"])
    }
  )

  scenario(
    "hold: a company that provides a payment hash must send the preimage to settle, and the preimage is not visible before that",
    node,
    function* ({ world }) {
      const payee = yield* company()
      const row = yield* heldFor(payee, paymentHash)
      assert.strictEqual(row.paymentHash, paymentHash)
      for (const wrong of [null, Preimage.make("0c".repeat(32))])
        assert.match(yield* why(settle(row, wrong)), /^Invalid/)
      assert.strictEqual(yield* statusOf(row), "held")
      world.isAway = true
      yield* settle(row, preimage)
      world.isAway = false
      yield* later
      assert.deepStrictEqual(
        [(yield* get(row)).preimage, yield* has(payee)],
        [preimage, { posted: 1000, held: 0 }]
      )
    }
  )

  scenario(
    "C32: hold: a payment hash is refused if any other invoice at the node has it, even another company's or the operator's",
    function* () {
      const [one, other] = [yield* company(), yield* company()]
      yield* holdInvoice(one, paymentHash)
      assert.match(yield* said(create(other, { paymentHash })), /^Invalid/)
      const plain = yield* (yield* LightningReceiver).createInvoice({
        id: one.id,
        amount: Msat.fromSats(1),
        description: { _tag: "Text", text: "of the operator" },
        expirySeconds: 60
      })
      assert.match(yield* said(create(other, { paymentHash: plain.paymentHash })), /^Invalid/)
    }
  )

  scenario("hold: an unpaid hold invoice expires, and its job ends", function* () {
    const row = yield* holdInvoice(yield* company())
    assert.strictEqual(yield* why(settle(row)), "InvoiceNotHeld: open")
    yield* TestClock.adjust("1 hour")
    yield* step
    assert.strictEqual(yield* statusOf(row), "expired")
    assert.strictEqual(yield* later, 0)
  })

  scenario(
    "hold: the number of a company's open hold invoices is limited, and the company can create another when one is no longer open",
    function* () {
      const [payee, other] = [yield* company(), yield* company()]
      const first = yield* heldFor(payee)
      for (let i = 1; i < LookupSchedule.holdInvoices.mostOpen; i++) yield* holdInvoice(payee)
      assert.strictEqual(yield* said(create(payee)), "TooManyHeld")
      assert.strictEqual(yield* said(create(other)), "ok")
      yield* settle(first)
      assert.strictEqual(yield* said(create(payee)), "ok")
      assert.strictEqual(yield* said(create(payee)), "TooManyHeld")
    }
  )

  scenario(
    "hold: a hold invoice cannot be paid internally, and a company cannot settle an ordinary invoice",
    function* () {
      const [payer, payee] = [yield* companyWith(5000), yield* company()]
      const row = yield* holdInvoice(payee)
      assert.strictEqual(
        yield* said(confirm(payer, row.paymentRequest)),
        "DestinationRefused: invoice_not_payable"
      )
      const plain = yield* made(
        (yield* Invoices).create({
          companyId: payee.id,
          ...(yield* asked(5)),
          description: "",
          expirySeconds: 60,
          metadata: {}
        })
      )
      assert.strictEqual(yield* why(settle(plain)), "InvoiceNotHeld: open")
    }
  )

  scenario(
    "hold: an unpaid invoice that the node has lost expires a day after its end, and then counts no more toward the limit",
    () => ({
      change: replace(LightningReceiver, () => ({ lookupInvoice: () => Effect.succeed({ _tag: "unknown" }) }))
    }),
    function* () {
      const payee = yield* company()
      const row = yield* holdInvoice(payee)
      yield* TestClock.adjust("25 hours")
      yield* step
      assert.strictEqual(yield* statusOf(row), "pending")
      yield* later
      assert.strictEqual(yield* statusOf(row), "expired")
      assert.strictEqual(yield* (yield* Records).openHolds(payee.id, 1), 0)
    }
  )

  scenario(
    "hold: a payment does not count as returned because the node calls its invoice unknown once",
    () => {
      const world = { unknown: 0 }
      const change = replace(LightningReceiver, (receiver) => ({
        lookupInvoice: (hash) =>
          Effect.suspend(() =>
            world.unknown-- > 0 ? Effect.succeed({ _tag: "unknown" } as const) : receiver.lookupInvoice(hash)
          )
      }))
      return { change, world }
    },
    function* ({ world }) {
      const payee = yield* company()
      const ask = {
        companyId: payee.id,
        ...(yield* asked(1000)),
        description: "",
        expirySeconds: 7 * 86_400,
        metadata: {}
      }
      const row = yield* made((yield* Invoices).create({ ...ask, hold: { paymentHash: null } }))
      yield* pay(row)
      yield* later
      const { heldUntilMillis } = yield* stored(row)
      yield* (yield* Journal).commit(Invoice.settling(row, null, row.createdAtMillis))
      yield* TestClock.setTime((heldUntilMillis ?? 0) + LookupSchedule.defaults.expiredGraceMillis + 1)
      world.unknown = 1
      yield* step
      assert.deepStrictEqual(
        [yield* statusOf(row), yield* has(payee)],
        ["settled", { posted: 1000, held: 0 }]
      )
    }
  )

  scenario(
    "hold: a node that does not support hold invoices is not called",
    {
      change: (ports: Context.Context<Ports>) => {
        const { holding: _, ...receiver } = Context.get(ports, LightningReceiver)
        return Context.add(ports, LightningReceiver, receiver)
      }
    },
    function* () {
      assert.match(yield* said(create(yield* company())), /^Invalid/)
    }
  )

  scenario(
    "hold: if a process dies after it records the decision to settle an invoice, another process settles and credits the invoice",
    function* () {
      const payee = yield* company()
      const row = yield* heldFor(payee)
      yield* (yield* Journal).commit(Invoice.settling(row, null, row.createdAtMillis))
      // The process died here, and another one continues the job.
      yield* later
      assert.deepStrictEqual(
        [yield* statusOf(row), yield* has(payee)],
        ["settled", { posted: 1000, held: 0 }]
      )
    }
  )
})
