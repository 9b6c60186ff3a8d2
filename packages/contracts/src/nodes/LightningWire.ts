import { assert } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Id from "@satrail/core/base/Id"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Context, Effect, Layer, Result, type Scope } from "effect"
import * as Contract from "../Contract.ts"
import { eventually } from "../Eventually.ts"
import { Peer as Payees } from "./LightningSender.ts"
import * as Wire from "./Wire.ts"

/** A node, and its adapter, which reaches the node through a proxy that injects each fault in `Wire.faults`. */
export class Target extends Context.Service<
  Target,
  {
    /**
     * Address of the node: `http://127.0.0.1:3000`, `https:` with any certificate, or the argument of `wire`.
     */
    readonly url: string
    /**
     * Builds the proxy. Defaults to `Wire.make` for HTTP; use `SocketWire.make` for a node with a Unix socket.
     */
    readonly wire?: (url: string) => Effect.Effect<Wire.Wire, unknown, Scope.Scope>
    /**
     * Builds an adapter that reaches the same node at another address. `deadlineMillis` is its response
     * timeout, which also ends the fault `silence`.
     */
    readonly adapter: (
      url: string,
      deadlineMillis: number
    ) => Layer.Layer<LightningReceiver | LightningSender, unknown>
  }
>()("@satrail/contracts/nodes/LightningWire/Target") {}

type Ports = Target | Payees

const amount = Msat.fromSats(10_000)
/** More requests than an adapter makes for one payment. */
const requests = 8

/**
 * Timeouts for each call while a fault is injected: one for the node's response, which may be slow on a busy
 * machine, and one for the fault `silence`.
 */
const deadlineMillis = { answer: 30_000, silence: 500 }

/** Connects the adapter through a proxy that forwards everything until a fault is set. */
const connected = Effect.fnUntraced(function* (fault: Wire.Fault) {
  const { url, adapter, wire: made = Wire.make } = yield* Target
  const wire = yield* made(url)
  const behind = (deadlineMillis: number) =>
    Effect.map(Layer.build(Layer.fresh(adapter(wire.url, deadlineMillis))), (built) => ({
      receiver: Context.get(built, LightningReceiver),
      sender: Context.get(built, LightningSender)
    }))
  const patient = yield* behind(deadlineMillis.answer)
  /** The adapter that is exposed to the fault. */
  const met = fault === "silence" ? yield* behind(deadlineMillis.silence) : patient
  const during = <A, E, R>(fault: Wire.Fault, use: Effect.Effect<A, E, R>, from = 0, isHeard = false) =>
    Effect.andThen(wire.fail(fault, from, isHeard), Effect.ensuring(use, wire.mend))
  return { wire, during, met, ...patient }
})

const invoiced = Effect.gen(function* () {
  const paymentRequest = yield* (yield* Payees).invoice({ amount, behaviour: "settle" })
  return { invoice: Result.getOrThrow(Bolt11.decode(paymentRequest)), amount, feeLimit: Msat.fromSats(1_000) }
})

const received = Effect.fnUntraced(function* (paymentHash: PaymentHash.PaymentHash) {
  return yield* (yield* Payees).received(paymentHash)
})

/** Checks that during a fault the adapter says nothing about a payment or invoice that only the node can know. */
const noWord = (fault: Wire.Fault) =>
  Effect.gen(function* () {
    const { during, met, receiver, sender } = yield* connected(fault)
    const asked = yield* invoiced
    yield* sender.pay(asked)
    const { paymentHash } = asked.invoice
    yield* eventually(sender.lookupPayment(paymentHash), ({ _tag }) => _tag === "settled")
    const issued = yield* receiver.createInvoice({
      id: yield* Id.make,
      amount: Msat.fromSats(21),
      description: { _tag: "Text", text: "coffee" },
      expirySeconds: 1800
    })
    const never = PaymentHash.make("0f".repeat(32))
    const said = yield* during(
      fault,
      Effect.all(
        {
          settled: met.sender.lookupPayment(paymentHash),
          never: met.sender.lookupPayment(never),
          quote: Effect.flip(met.sender.quote(yield* invoiced)),
          invoice: Effect.flip(met.receiver.lookupInvoice(issued.paymentHash)),
          nobodys: Effect.flip(met.receiver.lookupInvoice(never)),
          canceled: Effect.flip(met.receiver.cancelInvoice(issued.paymentHash))
        },
        { concurrency: "unbounded" }
      )
    )
    assert.deepStrictEqual(
      [said.settled, said.never],
      [{ _tag: "unknown" }, { _tag: "unknown" }],
      "a payment"
    )
    for (const [what, outage] of Object.entries(said).slice(2))
      assert.strictEqual(outage._tag, "NodeUnavailable", what)
    // After the fault, everything works as before.
    yield* eventually(met.sender.lookupPayment(paymentHash), ({ _tag }) => _tag === "settled")
    assert.strictEqual((yield* sender.lookupPayment(paymentHash))._tag, "settled")
    assert.strictEqual((yield* sender.lookupPayment(never))._tag, "notFound")
    assert.strictEqual((yield* receiver.lookupInvoice(issued.paymentHash))._tag, "open")
  }).pipe(Effect.scoped)

/**
 * Makes one payment for each request that a payment consists of. The payment's fault begins at that request,
 * either before or after the node receives it. Every returned result must be true.
 */
const paidOnce = (fault: Wire.Fault, isHeard: boolean) =>
  Effect.gen(function* () {
    const { wire, during, met, sender } = yield* connected(fault)
    for (let from = 0; from < requests; from++) {
      const asked = yield* invoiced
      const { paymentHash } = asked.invoice
      yield* wire.mend
      const answered = yield* during(fault, met.sender.pay(asked), from, isHeard)
      assert.notStrictEqual(answered._tag, "failed", `from request ${from} on`)
      if (answered._tag === "settled") break // no request is left to fail
      // The state is no longer unknown, because now the node itself reports it.
      const state = yield* eventually(
        sender.lookupPayment(paymentHash),
        ({ _tag }) => _tag === "notFound" || _tag === "settled"
      )
      if (answered._tag === "notSent")
        assert.strictEqual(state._tag, "notFound", "a payment reported as not sent was not sent")
      assert.strictEqual(yield* received(paymentHash), state._tag === "settled" ? amount : Msat.zero)
      // Repeating the call pays once. If the first call's result is unknown, it may still be in flight, and the
      // payment need not be sent again until `graceMillis` has passed.
      yield* sender.pay(asked)
      const isDue = answered._tag === "notSent" || state._tag === "settled"
      const last = yield* eventually(
        sender.lookupPayment(paymentHash),
        ({ _tag }) => _tag === "settled" || (!isDue && _tag === "notFound")
      )
      assert.strictEqual(yield* received(paymentHash), last._tag === "settled" ? amount : Msat.zero)
    }
  }).pipe(Effect.scoped)

/** Three guarantees for each fault. All protect money, so none may be skipped. */
export const promises: Contract.Promises<Ports> = Object.fromEntries(
  Object.entries(Wire.faults).flatMap(([name, fault]) => [
    [`C2: the state of a payment or invoice is never concluded from this fault: ${name}`, noWord(fault)],
    [
      `C3: if this fault occurs before the node receives the request, the payment does not fail and is paid once: ${name}`,
      paidOnce(fault, false)
    ],
    [
      `C3: if this fault occurs after the node receives the request, the payment does not fail and is paid once: ${name}`,
      paidOnce(fault, true)
    ]
  ])
)

/** Tests a node's adapter against responses that do not come from the node. */
export const suite = Contract.suite<Ports, Contract.Promises<Ports>, {}>("LightningWire", {
  money: promises,
  other: {}
})
