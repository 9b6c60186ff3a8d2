import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as Preimage from "@satrail/bitcoin/Preimage"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { type Ask, LightningSender } from "@satrail/core/nodes/LightningSender"
import { Effect, Fiber, Layer, References } from "effect"
import { TestClock } from "effect/testing"
import * as NwcScript from "./NwcScript.ts"

// What relays and wallets do wrong: of a payment nothing is said but what the wallet's own record says.

const story = <A, E>(title: string, steps: (world: NwcScript.World) => Effect.Effect<A, E, LightningSender | LightningReceiver>) =>
  it.effect(
    title.replace(/^(?:C\d+: )?/, (incident) => `${incident}wallet: `),
    () =>
      Effect.gen(function* () {
        const world = yield* NwcScript.make
        return yield* Effect.provide(steps(world), Layer.fresh(world.layer))
      }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
  )

/** Everything that can be done without time has been done. */
const calm = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })

/** Its answer, as soon as it is there by the clock of the test. */
const within = <A, E, R>(millis: number, use: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(use, { startImmediately: true })
    for (let passed = 0; passed <= millis; passed += 500) {
      yield* calm
      if (fiber.pollUnsafe() !== undefined) break
      yield* TestClock.adjust(500)
    }
    return yield* Fiber.join(fiber)
  })

const pay = (asked: Ask) =>
  within(
    5_000,
    Effect.flatMap(LightningSender, (sender) => sender.pay(asked))
  )
const lookup = ({ invoice }: Ask) =>
  within(
    15_000,
    Effect.flatMap(LightningSender, (sender) => sender.lookupPayment(invoice.paymentHash))
  )

const settled = (preimage: Preimage.Preimage) => ({ state: "settled", preimage, settled_at: 1 })
const isSettled = (payment: { readonly _tag: string }) => assert.strictEqual(payment._tag, "settled")

story("a payment is settled by the wallet's record, with its proof and what the wallet took", (world) =>
  Effect.gen(function* () {
    const { asked, preimage } = NwcScript.invoice()
    world.pay = () => {
      world.record(asked.invoice.paymentHash, settled(preimage))
      return { result: { preimage } }
    }
    const payment = yield* pay(asked)
    assert.deepStrictEqual<unknown>(payment, { _tag: "settled", preimage, fee: 3_000n, index: null })
  })
)

for (const does of ["refuses", "loses", "unsaid"] as const)
  story(`C2: a relay that ${does}, and never an answer: not failed, and paid once when it is asked again`, (world) =>
    Effect.gen(function* () {
      const { asked, preimage } = NwcScript.invoice()
      world.relay = (method) => (method === "pay_invoice" ? does : "delivers")
      const first = yield* pay(asked)
      assert.strictEqual(first._tag, { refuses: "notSent", loses: "pending", unsaid: "unknown" }[does])
      assert.deepStrictEqual<unknown>(yield* lookup(asked), { _tag: "notFound" })
      world.relay = () => "delivers"
      world.pay = () => {
        world.record(asked.invoice.paymentHash, settled(preimage))
        return { result: { preimage } }
      }
      // Whoever still waits for the first answer waits for the second call's as well.
      if (does === "loses") yield* TestClock.adjust("2 minutes")
      isSettled(yield* pay(asked))
      isSettled(yield* pay(asked))
      const sent = world.payments()
      assert.strictEqual(sent.length, 2)
      // Within its time it is the very same event, which a wallet pays once.
      assert.strictEqual(new Set(sent).size, does === "loses" ? 2 : 1)
    })
  )

story("no connection to the relay: not sent, and no word about any payment", (world) =>
  Effect.gen(function* () {
    const { asked } = NwcScript.invoice()
    world.relay = () => "away"
    assert.strictEqual((yield* pay(asked))._tag, "notSent")
    assert.strictEqual((yield* lookup(asked))._tag, "unknown")
    assert.deepStrictEqual(world.payments(), [])
  })
)

story("an answer that is lost: pending, and settled by the record", (world) =>
  Effect.gen(function* () {
    const { asked, preimage } = NwcScript.invoice()
    world.pay = () => {
      world.record(asked.invoice.paymentHash, settled(preimage))
      return undefined
    }
    assert.strictEqual((yield* pay(asked))._tag, "pending")
    isSettled(yield* lookup(asked))
    yield* TestClock.adjust("2 minutes")
    isSettled(yield* pay(asked))
    assert.strictEqual(world.payments().length, 1)
  })
)

story("C2: PAYMENT_FAILED while the wallet's record says pending: not failed", (world) =>
  Effect.gen(function* () {
    const { asked, preimage } = NwcScript.invoice()
    world.pay = () => {
      world.record(asked.invoice.paymentHash, { state: "pending" })
      return { code: "PAYMENT_FAILED" }
    }
    assert.strictEqual((yield* pay(asked))._tag, "pending")
    assert.strictEqual((yield* lookup(asked))._tag, "pending")
    world.record(asked.invoice.paymentHash, settled(preimage))
    isSettled(yield* lookup(asked))
  })
)

story("C2: PAYMENT_FAILED, and the record cannot be asked for: unknown, and failed once it can", (world) =>
  Effect.gen(function* () {
    const { asked } = NwcScript.invoice()
    let isLost = false
    world.relay = (method) => (isLost && method === "lookup_invoice" ? "refuses" : "delivers")
    world.pay = () => {
      isLost = true
      return { code: "PAYMENT_FAILED" }
    }
    assert.strictEqual((yield* pay(asked))._tag, "unknown")
    isLost = false
    assert.deepStrictEqual<unknown>(yield* lookup(asked), { _tag: "failed", reason: "error" })
  })
)

story("what the wallet has refused for good has failed, and may be paid later", (world) =>
  Effect.gen(function* () {
    const { asked, preimage } = NwcScript.invoice()
    world.pay = () => ({ code: "QUOTA_EXCEEDED" })
    const failed = { _tag: "failed", reason: "insufficient_balance" }
    assert.deepStrictEqual<unknown>(yield* pay(asked), failed)
    assert.deepStrictEqual<unknown>(yield* lookup(asked), failed)
    world.pay = () => {
      world.record(asked.invoice.paymentHash, settled(preimage))
      return { result: { preimage } }
    }
    isSettled(yield* pay(asked))
    assert.strictEqual(new Set(world.payments()).size, 2)
  })
)

for (const code of ["INTERNAL", "OTHER", "A_CODE_OF_TOMORROW"])
  story(`C2: ${code} leaves open whether it was paid: without the wallet's record it has not failed, however late`, (world) =>
    Effect.gen(function* () {
      const { asked } = NwcScript.invoice()
      world.pay = () => ({ code })
      assert.strictEqual((yield* pay(asked))._tag, "unknown")
      assert.strictEqual((yield* lookup(asked))._tag, "notFound")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* lookup(asked))._tag, "notFound")
    })
  )

for (const code of ["RATE_LIMITED", "UNAUTHORIZED", "RESTRICTED"])
  story(`${code}: the wallet has not looked at the payment`, (world) =>
    Effect.gen(function* () {
      const { asked } = NwcScript.invoice()
      world.pay = () => ({ code })
      assert.strictEqual((yield* pay(asked))._tag, "notSent")
    })
  )

story("C2: an answer by another key, a forged one and one that nobody can read are no answers", (world) =>
  Effect.gen(function* () {
    const { asked, preimage } = NwcScript.invoice()
    world.pay = () => {
      world.record(asked.invoice.paymentHash, settled(preimage))
      return { result: { preimage } }
    }
    // To every request, look-ups as well, as if nobody knew the payment and it had failed.
    world.beside = (to) => [
      world.impostors(to, { code: "NOT_FOUND" }),
      world.forged(to, { code: "NOT_FOUND" }),
      world.garbage(to),
      world.impostors(to, { code: "PAYMENT_FAILED" })
    ]
    isSettled(yield* pay(asked))
    isSettled(yield* lookup(asked))
  })
)

story("only an impostor answers: unknown", (world) =>
  Effect.gen(function* () {
    const { asked } = NwcScript.invoice()
    world.relay = () => "loses"
    const answering = within(
      15_000,
      Effect.flatMap(LightningSender, (sender) => sender.lookupPayment(asked.invoice.paymentHash))
    )
    assert.strictEqual((yield* answering)._tag, "unknown")
  })
)

story("C2: two answers that differ: the record counts", (world) =>
  Effect.gen(function* () {
    const { asked, preimage } = NwcScript.invoice()
    world.pay = () => {
      world.record(asked.invoice.paymentHash, settled(preimage))
      return { result: { preimage } }
    }
    world.beside = (to) => (to.id === world.payments().at(-1) ? [world.answer(to, { code: "PAYMENT_FAILED" })] : [])
    isSettled(yield* pay(asked))
    isSettled(yield* lookup(asked))
    assert.strictEqual(world.payments().length, 1)
  })
)

for (const [what, record] of [
  ["settled without a proof", { state: "settled", settled_at: 1, preimage: "00".repeat(32) }],
  ["settled without a preimage", { state: "settled", settled_at: 1 }],
  ["somebody's who paid us", { type: "incoming", state: "settled", settled_at: 1 }],
  ["of another payment", { payment_hash: "0f".repeat(32), state: "failed" }],
  ["of no payment at all", { type: "sideways" }]
] as const)
  story(`a record that is ${what} is no word about a payment`, (world) =>
    Effect.gen(function* () {
      const { asked } = NwcScript.invoice()
      world.record(asked.invoice.paymentHash, record)
      assert.deepStrictEqual<unknown>(yield* lookup(asked), { _tag: "unknown" })
      assert.notInclude(["settled", "failed"], (yield* pay(asked))._tag)
      assert.deepStrictEqual(world.payments(), [])
    })
  )

story("C28: what the wallet may take beyond the limit is not sent", (world) =>
  Effect.gen(function* () {
    const { asked } = NwcScript.invoice()
    // 10 sats, and 1 % of 1000.
    const { tariff } = yield* LightningSender
    assert.deepStrictEqual(tariff, { base: 10_000n, partsPerMillion: 10_000n })
    assert.deepStrictEqual<unknown>(yield* pay({ ...asked, feeLimit: Msat.make(19_999n) }), { _tag: "failed", reason: "no_route" })
    assert.deepStrictEqual(world.payments(), [])
  })
)

const asking = (amount: bigint) => ({
  id: "one",
  amount: Msat.make(amount),
  description: { _tag: "Text", text: "coffee" } as const,
  expirySeconds: 600
})
const create = (amount: bigint) =>
  within(
    15_000,
    Effect.flatMap(LightningReceiver, (receiver) => receiver.createInvoice(asking(amount)))
  )

story("an invoice for another amount, or with another hash, than the wallet was asked for is shown to nobody", (world) =>
  Effect.gen(function* () {
    const { invoice } = NwcScript.invoice().asked
    world.make = () => ({ result: { invoice: invoice.paymentRequest, payment_hash: invoice.paymentHash } })
    assert.include(String((yield* Effect.flip(create(999_000n))).cause), "an invoice for 1000000 instead of 999000 msat")
    world.make = () => ({ result: { invoice: invoice.paymentRequest, payment_hash: "0f".repeat(32) } })
    assert.include(String((yield* Effect.flip(create(1_000_000n))).cause), "another hash")
    world.make = () => ({ result: { invoice: invoice.paymentRequest, payment_hash: invoice.paymentHash } })
    assert.strictEqual((yield* create(1_000_000n)).paymentHash, invoice.paymentHash)
  })
)

story("C60: of a receipt what the wallet kept is not credited, and without a proof nothing is", (world) =>
  Effect.gen(function* () {
    const { preimage, asked } = NwcScript.invoice()
    const { paymentHash } = asked.invoice
    const look = within(
      15_000,
      Effect.flatMap(LightningReceiver, (receiver) => receiver.lookupInvoice(paymentHash))
    )
    world.record(paymentHash, { type: "incoming", state: "pending", preimage })
    assert.deepStrictEqual<unknown>(yield* look, { _tag: "open" })
    world.record(paymentHash, { type: "incoming", state: "settled", preimage: "00".repeat(32), settled_at: 1 })
    assert.strictEqual((yield* Effect.flip(look))._tag, "NodeUnavailable")
    // 1000 sats, of which it kept 3.
    world.record(paymentHash, { type: "incoming", state: "settled", preimage, settled_at: 1 })
    assert.deepStrictEqual<unknown>(yield* look, { _tag: "settled", received: 997_000n, preimage })
  })
)

it.effect("wallet: one that does not permit to pay only receives; one that does not permit to receive is refused", () =>
  Effect.gen(function* () {
    const world = yield* NwcScript.make
    world.permits(["get_info", "make_invoice", "lookup_invoice"])
    const { asked } = NwcScript.invoice()
    const refused = Effect.provide(pay(asked), Layer.fresh(world.layer))
    assert.deepStrictEqual<unknown>(yield* refused, { _tag: "failed", reason: "error" })
    assert.deepStrictEqual(world.payments(), [])
    world.permits(["get_info", "pay_invoice"])
    const error = yield* Effect.flip(Effect.scoped(Layer.build(Layer.fresh(world.layer))))
    assert.include(String(error.cause), "make_invoice and lookup_invoice")
  }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
)
