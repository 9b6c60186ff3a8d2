import { assert } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { LightningSender, type Payment } from "@satrail/core/nodes/LightningSender"
import { Context, Effect, Exit, Fiber, Result, Stream } from "effect"
import * as Contract from "../Contract.ts"
import { eventually } from "../Eventually.ts"

/** How a payee handles a payment: settles it, fails it, or holds it until it is released. */
export type Behaviour = "settle" | "fail" | "hold"

/**
 * The contract's peer: payees that the node reaches over at least one other node, so that every route has a
 * fee.
 */
export class Peer extends Context.Service<
  Peer,
  {
    /** Returns a new invoice, without an amount if none is given. */
    readonly invoice: (ask: {
      readonly amount?: Msat.Msat
      readonly behaviour: Behaviour
    }) => Effect.Effect<string, unknown>
    /** Returns a new invoice from a node to which our node has no route. */
    readonly unreachable: (amount: Msat.Msat) => Effect.Effect<string, unknown>
    /** Returns the amount that a payee received for the invoice with this payment hash. */
    readonly received: (paymentHash: PaymentHash.PaymentHash) => Effect.Effect<Msat.Msat, unknown>
    /** Settles or fails a payment that a payee holds. */
    readonly release: (
      paymentHash: PaymentHash.PaymentHash,
      outcome: "settle" | "fail"
    ) => Effect.Effect<void, unknown>
    /** Cuts the connection between us and our node, and restores it. Nothing sent before the cut is lost. */
    readonly cut: Effect.Effect<void, unknown>
    readonly mend: Effect.Effect<void, unknown>
  }
>()("@satrail/contracts/nodes/LightningSender/Peer") {}

const amount = Msat.fromSats(10_000)
const generous = Msat.fromSats(1_000)

type Asked = Parameters<LightningSender["Service"]["pay"]>[0]

const asking = (paymentRequest: string, feeLimit: Msat.Msat = generous): Asked => ({
  invoice: Result.getOrThrow(Bolt11.decode(paymentRequest)),
  amount,
  feeLimit
})

/** Returns an invoice of a payee that behaves this way. */
const invoiced = Effect.fnUntraced(function* (behaviour: Behaviour) {
  return asking(yield* (yield* Peer).invoice({ amount, behaviour }))
})

const pay = Effect.fnUntraced(function* (asked: Asked) {
  return yield* (yield* LightningSender).pay(asked)
})

const lookup = Effect.fnUntraced(function* ({ invoice }: Asked) {
  return yield* (yield* LightningSender).lookupPayment(invoice.paymentHash)
})

const isFinal = ({ _tag }: { readonly _tag: string }) => _tag === "settled" || _tag === "failed"

/** Waits for the payment's final result. */
const outcome = Effect.fnUntraced(function* (asked: Asked) {
  return yield* eventually(lookup(asked), isFinal)
})

/** Checks that the payment is settled, the preimage proves it, and the payee received this amount. */
const isSettled = Effect.fnUntraced(function* (asked: Asked) {
  const payment = yield* outcome(asked)
  if (payment._tag !== "settled") return assert.fail(`the payment is ${payment._tag}`)
  assert.isTrue(Preimage.proves(payment.preimage, asked.invoice.paymentHash))
  assert.strictEqual(yield* got(asked), asked.amount)
  return payment
})

const got = Effect.fnUntraced(function* ({ invoice }: Asked) {
  return yield* (yield* Peer).received(invoice.paymentHash)
})

const isFailed = Effect.fnUntraced(function* (asked: Asked, reason: string) {
  const keepsNone = (yield* LightningSender).lacks?.has("reason") === true
  assert.deepStrictEqual<unknown>(yield* outcome(asked), {
    _tag: "failed",
    reason: keepsNone ? "error" : reason
  })
  assert.strictEqual(yield* got(asked), Msat.zero)
  if (keepsNone) yield* Contract.lacks("the node keeps no failure reason; the payment is reported as failed")
})

/**
 * Checks that a payment is not sent if its cost exceeds its limit. If the node has no fee limits, the adapter
 * never sends it the request, and the result of `pay` comes from the adapter.
 */
const isTooDear = Effect.fnUntraced(function* (asked: Asked) {
  const { lacks } = yield* LightningSender
  const answer = yield* pay(asked)
  if (lacks?.has("fee_limit") !== true) return yield* isFailed(asked, "no_route")
  assert.deepStrictEqual<unknown>(answer, { _tag: "failed", reason: "no_route" })
  assert.deepStrictEqual<unknown>(yield* lookup(asked), { _tag: "notFound" })
  assert.strictEqual(yield* got(asked), Msat.zero)
  return yield* Contract.lacks(
    "the node has no fee limit; the adapter checks the node's fixed fee before sending"
  )
})

/** Starts a payment that its payee holds. */
const held = Effect.gen(function* () {
  const asked = yield* invoiced("hold")
  assert.notInclude(["settled", "failed"], (yield* pay(asked))._tag)
  yield* eventually(lookup(asked), ({ _tag }) => _tag === "pending")
  return asked
})

const release = Effect.fnUntraced(function* ({ invoice }: Asked, how: "settle" | "fail") {
  yield* (yield* Peer).release(invoice.paymentHash, how)
})

const withoutWire = <A, E, R>(use: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Peer, (peer) => Contract.withoutWire(peer, use))

/** Guarantees that no money is sent twice, refunded too early, or spent on fees above the limit. */
export const money = {
  "a payment settles with a valid preimage": Effect.gen(function* () {
    const asked = yield* invoiced("settle")
    yield* pay(asked)
    const { fee } = yield* isSettled(asked)
    assert.isAtMost(Number(fee), Number(generous))
  }),
  "an invoice without an amount is paid in the requested amount": Effect.gen(function* () {
    const asked = asking(yield* (yield* Peer).invoice({ behaviour: "settle" }))
    assert.isUndefined(asked.invoice.amount)
    yield* pay(asked)
    yield* isSettled(asked)
  }),
  "C25 C26 C28 C38: nothing is sent if the fee limit is one millisatoshi below the fee of the cheapest route":
    Effect.gen(function* () {
      const asked = yield* invoiced("settle")
      const quote = yield* (yield* LightningSender).quote(asked)
      if (quote === undefined || quote.fee === 0n)
        return assert.fail("the payee must be behind a node that charges fees")
      const scant = { ...asked, feeLimit: Msat.make(quote.fee - 1n) }
      yield* isTooDear(scant)
    }),
  "C25 C26: if the fee limit is 0, no fee is paid": Effect.gen(function* () {
    yield* isTooDear({ ...(yield* invoiced("settle")), feeLimit: Msat.zero })
  }),
  "C11: repeated calls with the same payment hash pay once": Effect.gen(function* () {
    const asked = yield* invoiced("settle")
    yield* pay(asked)
    const first = yield* isSettled(asked)
    const again = yield* pay(asked)
    assert.notInclude(["failed"], again._tag)
    assert.deepStrictEqual<unknown>(yield* isSettled(asked), first)
  }),
  "C11: eight concurrent calls with the same payment hash pay once": Effect.gen(function* () {
    const asked = yield* invoiced("settle")
    const answers = yield* Effect.forEach(Array.from({ length: 8 }), () => pay(asked), {
      concurrency: "unbounded"
    })
    assert.notInclude(
      answers.map(({ _tag }) => _tag),
      "failed"
    )
    yield* isSettled(asked)
  }),
  "C1: a held payment is pending, is not sent again, and can still settle": Effect.gen(function* () {
    const asked = yield* held
    assert.notInclude(["settled", "failed"], (yield* pay(asked))._tag)
    assert.strictEqual((yield* lookup(asked))._tag, "pending")
    assert.strictEqual(yield* got(asked), Msat.zero)
    yield* release(asked, "settle")
    yield* isSettled(asked)
  }),
  "C1: a held payment can still fail, and then nothing was paid": Effect.gen(function* () {
    const asked = yield* held
    yield* release(asked, "fail")
    yield* isFailed(asked, "incorrect_payment_details")
  }),
  "a payment that the payee rejects is reported as failed by every call": Effect.gen(function* () {
    const asked = yield* invoiced("fail")
    yield* pay(asked)
    for (const _ of [1, 2, 3]) yield* isFailed(asked, "incorrect_payment_details")
  }),
  "a payment that has no route fails with that reason": Effect.gen(function* () {
    const asked = asking(yield* (yield* Peer).unreachable(amount))
    yield* pay(asked)
    yield* isFailed(asked, "no_route")
  }),
  "C8: a payment that was never sent is not found": Effect.gen(function* () {
    const asked = yield* invoiced("settle")
    assert.deepStrictEqual<unknown>(yield* lookup(asked), { _tag: "notFound" })
    assert.strictEqual(yield* got(asked), Msat.zero)
  }),
  "C2: a node that does not respond leaves a payment unknown, not failed": Effect.gen(function* () {
    const asked = yield* invoiced("settle")
    const [answer, before] = yield* withoutWire(Effect.all([pay(asked), lookup(asked)]))
    assert.include(["unknown", "notSent"], answer._tag)
    assert.deepStrictEqual<unknown>(before, { _tag: "unknown" })
    // Whatever the outcome, the node's result and the payee's money agree.
    const after = yield* eventually(
      lookup(asked),
      ({ _tag }) => _tag === "notFound" || _tag === "settled" || _tag === "failed"
    )
    assert.strictEqual(yield* got(asked), after._tag === "settled" ? amount : Msat.zero)
    yield* pay(asked)
    yield* isSettled(asked)
  }),
  "C3: a payment reported as not sent was not sent: it is not found, the payee received nothing, and repeating the call pays once":
    Effect.gen(function* () {
      const asked = [yield* invoiced("settle"), yield* invoiced("hold"), yield* invoiced("settle")] as const
      const answers = [yield* pay(asked[0]), yield* pay(asked[1]), yield* withoutWire(pay(asked[2]))]
      for (const [i, answer] of answers.entries()) {
        const one = asked[i]
        if (answer._tag !== "notSent" || one === undefined) continue
        assert.deepStrictEqual<unknown>(yield* eventually(lookup(one), ({ _tag }) => _tag !== "unknown"), {
          _tag: "notFound"
        })
        assert.strictEqual(yield* got(one), Msat.zero)
      }
      yield* pay(asked[2])
      yield* isSettled(asked[2])
    }),
  "C6: a settled payment is reported as unknown while its state cannot be read, and as settled afterward":
    Effect.gen(function* () {
      const asked = yield* invoiced("settle")
      yield* pay(asked)
      const before = yield* isSettled(asked)
      assert.deepStrictEqual<unknown>(yield* withoutWire(lookup(asked)), { _tag: "unknown" })
      assert.deepStrictEqual<Payment>(yield* isSettled(asked), before)
    })
} satisfies Contract.Promises<LightningSender | Peer>

/** Other guarantees. */
export const other = {
  "a quote is within the limit, states the probability of success and sends nothing": Effect.gen(
    function* () {
      const asked = yield* invoiced("settle")
      const quote = yield* (yield* LightningSender).quote(asked)
      if (quote === undefined) return assert.fail("no route")
      assert.isTrue(quote.fee >= 0n && quote.fee <= generous)
      assert.isAbove(quote.probability, 0)
      assert.isAtMost(quote.probability, 1)
      assert.deepStrictEqual<unknown>(yield* lookup(asked), { _tag: "notFound" })
      assert.strictEqual(yield* got(asked), Msat.zero)
    }
  ),
  "there is no quote if no route exists or every route exceeds the limit": Effect.gen(function* () {
    const { quote } = yield* LightningSender
    assert.isUndefined(yield* quote(asking(yield* (yield* Peer).unreachable(amount))))
    assert.isUndefined(yield* quote({ ...(yield* invoiced("settle")), feeLimit: Msat.zero }))
  }),
  "if the node supports notifications, a subscriber is notified when a payment has settled or failed, and not earlier":
    Effect.gen(function* () {
      const { ends } = yield* LightningSender
      const heard: Array<PaymentHash.PaymentHash> = []
      const listening = yield* Effect.forkChild(
        Stream.runForEach(ends, (paymentHash) => Effect.sync(() => heard.push(paymentHash))),
        { startImmediately: true }
      )
      // The first notification shows that the subscription is active.
      const tried = Effect.gen(function* () {
        const asked = yield* invoiced("settle")
        yield* pay(asked)
        yield* isSettled(asked)
        return listening.pollUnsafe() !== undefined || heard.length > 0
      })
      yield* eventually(tried, (is) => is)
      if (listening.pollUnsafe() !== undefined) {
        assert.deepStrictEqual(heard, [])
        return yield* Contract.lacks("the node sends no payment notifications")
      }
      const late = yield* held
      const failing = yield* invoiced("fail")
      yield* pay(failing)
      const has = (asked: Asked) => Effect.sync(() => heard.includes(asked.invoice.paymentHash))
      yield* eventually(has(failing), (is) => is)
      assert.isFalse(yield* has(late))
      yield* release(late, "settle")
      yield* eventually(has(late), (is) => is)
      yield* isSettled(late)
      yield* Fiber.interrupt(listening)
    }),
  "if the node does not respond, a quote fails as unavailable": Effect.gen(function* () {
    const asked = yield* invoiced("settle")
    const exit = yield* withoutWire(Effect.exit(Effect.flip((yield* LightningSender).quote(asked))))
    assert.isTrue(Exit.isSuccess(exit) && exit.value._tag === "NodeUnavailable")
  })
} satisfies Contract.Promises<LightningSender | Peer>

/**
 * The guarantees that every LightningSender must provide. Each entry is one guarantee; a number such as C25
 * names the incident that it prevents.
 */
export const promises = { ...money, ...other }

/** Runs the contract against a layer and its peer. */
export const suite = Contract.suite<LightningSender | Peer, typeof money, typeof other>("LightningSender", {
  money,
  other
})
