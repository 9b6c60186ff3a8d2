import { assert } from "@effect/vitest"
import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { OfferSender, type OfferAsk, type OfferPayment } from "@satrail/core/nodes/OfferSender"
import { Context, Effect, Exit, Fiber, Result, Stream } from "effect"
import * as Contract from "../Contract.ts"
import { eventually } from "../Eventually.ts"

/**
 * How the issuer of an offer behaves. It sends an invoice and then settles the payment, fails it, or holds it
 * until it is released; or it refuses to send an invoice; or it doesn't respond.
 */
export type Behaviour = "settle" | "fail" | "hold" | "refuse" | "unreachable"

/**
 * The contract's peer: issuers of offers that the node reaches over at least one other node, so that every
 * route has a fee.
 */
export class Peer extends Context.Service<
  Peer,
  {
    /** Creates an offer, without an amount if none is given. */
    readonly offer: (ask: {
      readonly amount?: Msat.Msat
      readonly behaviour: Behaviour
    }) => Effect.Effect<string, unknown>
    /** Creates an offer from a node to which no route exists. */
    readonly unreachable: (amount: Msat.Msat) => Effect.Effect<string, unknown>
    /** Returns the total amount that the issuer received for an offer. */
    readonly received: (offer: string) => Effect.Effect<Msat.Msat, unknown>
    /** Settles or fails every held payment of an offer. */
    readonly release: (offer: string, outcome: "settle" | "fail") => Effect.Effect<void, unknown>
    /** Cuts the connection between us and our node, and restores it. Nothing sent before the cut is lost. */
    readonly cut: Effect.Effect<void, unknown>
    readonly mend: Effect.Effect<void, unknown>
  }
>()("@satrail/contracts/nodes/OfferSender/Peer") {}

const amount = Msat.fromSats(10_000)
const generous = Msat.fromSats(1_000)

const asking = (offer: string): OfferAsk => ({
  attempt: crypto.randomUUID(),
  offer: Result.getOrThrow(Bolt12.decode(offer)),
  amount,
  feeLimit: generous
})

/** Creates an offer whose issuer behaves this way. */
const offered = Effect.fnUntraced(function* (behaviour: Behaviour, least?: Msat.Msat) {
  return asking(yield* (yield* Peer).offer({ behaviour, ...(least !== undefined && { amount: least }) }))
})

const pay = Effect.fnUntraced(function* (asked: OfferAsk) {
  return yield* (yield* OfferSender).payOffer(asked)
})

const lookup = Effect.fnUntraced(function* ({ attempt }: OfferAsk) {
  return yield* (yield* OfferSender).lookupOffer(attempt)
})

const outcome = Effect.fnUntraced(function* (asked: OfferAsk) {
  return yield* eventually(lookup(asked), ({ _tag }) => _tag === "settled" || _tag === "failed")
})

const got = Effect.fnUntraced(function* ({ offer: { offer } }: OfferAsk) {
  return yield* (yield* Peer).received(offer)
})

/**
 * Checks that the payment is settled, the preimage proves the reported hash, and the issuer received this
 * amount.
 */
const isSettled = Effect.fnUntraced(function* (asked: OfferAsk, received = asked.amount) {
  const payment = yield* outcome(asked)
  if (payment._tag === "failed" && (yield* got(asked)) === received - asked.amount)
    return assert.fail(`nothing was paid: ${payment.reason}`)
  if (payment._tag !== "settled") return assert.fail(`the payment is ${payment._tag}`)
  assert.isTrue(Preimage.proves(payment.preimage, payment.paymentHash))
  assert.isTrue(payment.fee <= asked.feeLimit)
  // The issuer may record the payment a moment after it reveals the preimage.
  assert.strictEqual(yield* eventually(got(asked), (amount) => amount >= received), received)
  return payment
})

const isFailed = Effect.fnUntraced(function* (asked: OfferAsk) {
  assert.strictEqual((yield* outcome(asked))._tag, "failed")
  assert.strictEqual(yield* got(asked), Msat.zero)
})

/** Starts a payment that the issuer holds. */
const held = Effect.gen(function* () {
  const asked = yield* offered("hold")
  assert.notInclude(["settled", "failed"], (yield* pay(asked))._tag)
  yield* eventually(lookup(asked), ({ _tag }) => _tag === "pending")
  return asked
})

const release = Effect.fnUntraced(function* ({ offer: { offer } }: OfferAsk, how: "settle" | "fail") {
  yield* (yield* Peer).release(offer, how)
})

const withoutWire = <A, E, R>(use: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Peer, (peer) => Contract.withoutWire(peer, use))

/** Guarantees that no money is sent twice, refunded too early, or spent on fees above the limit. */
export const money = {
  "a payment settles with a preimage that matches the reported hash": Effect.gen(function* () {
    const asked = yield* offered("settle")
    assert.isUndefined(asked.offer.amount)
    yield* pay(asked)
    yield* isSettled(asked)
  }),
  "an offer with an amount is paid in the requested amount if that is at least the offer's amount":
    Effect.gen(function* () {
      for (const least of [amount, Msat.make(amount / 2n)]) {
        const asked = yield* offered("settle", least)
        assert.strictEqual(asked.offer.amount, least)
        yield* pay(asked)
        yield* isSettled(asked)
      }
    }),
  "a payment below the offer's amount is refused": Effect.gen(function* () {
    const asked = yield* offered("settle", Msat.make(amount + 1n))
    yield* pay(asked)
    yield* isFailed(asked)
  }),
  "C25 C26 C28 C38: nothing is sent if the fee limit is one millisatoshi below the fee of the cheapest route":
    Effect.gen(function* () {
      const asked = yield* offered("settle")
      yield* pay(asked)
      const { fee } = yield* isSettled(asked)
      if (fee === 0n) return assert.fail("the issuer must be behind a node that charges fees")
      const scant = { ...(yield* offered("settle")), feeLimit: Msat.make(fee - 1n) }
      yield* pay(scant)
      yield* isFailed(scant)
    }),
  "C25 C26: if the fee limit is 0, no fee is paid": Effect.gen(function* () {
    const asked = { ...(yield* offered("settle")), feeLimit: Msat.zero }
    yield* pay(asked)
    yield* isFailed(asked)
  }),
  "C11: repeated requests for one attempt pay once": Effect.gen(function* () {
    const asked = yield* offered("settle")
    yield* pay(asked)
    const first = yield* isSettled(asked)
    assert.notStrictEqual((yield* pay(asked))._tag, "failed")
    assert.deepStrictEqual<unknown>(yield* isSettled(asked), first)
  }),
  "C11: eight concurrent requests for one attempt pay once": Effect.gen(function* () {
    const asked = yield* offered("settle")
    const answers = yield* Effect.forEach(Array.from({ length: 8 }), () => pay(asked), {
      concurrency: "unbounded"
    })
    assert.notInclude(
      answers.map(({ _tag }) => _tag),
      "failed"
    )
    yield* isSettled(asked)
  }),
  "two attempts to pay one offer are two payments": Effect.gen(function* () {
    const one = yield* offered("settle")
    const other = { ...one, attempt: crypto.randomUUID() }
    yield* pay(one)
    yield* isSettled(one)
    assert.deepStrictEqual<unknown>(yield* lookup(other), { _tag: "notFound" })
    yield* pay(other)
    yield* isSettled(other, Msat.make(amount * 2n))
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
    yield* isFailed(asked)
  }),
  "a payment that the issuer rejects fails, and stays failed when requested again": Effect.gen(function* () {
    const asked = yield* offered("fail")
    for (const _ of [1, 2]) {
      yield* pay(asked)
      yield* isFailed(asked)
    }
  }),
  "nothing is paid if the issuer refuses to send an invoice or cannot be reached": Effect.gen(function* () {
    const all = [yield* offered("refuse"), asking(yield* (yield* Peer).unreachable(amount))]
    // A real node retries such a payment for minutes before giving up.
    for (const asked of all) yield* pay(asked)
    for (const asked of all) yield* isFailed(asked)
  }),
  "nothing is paid if the issuer does not respond: the attempt is pending or failed": Effect.gen(
    function* () {
      const asked = yield* offered("unreachable")
      yield* pay(asked)
      assert.include(["pending", "failed"], (yield* lookup(asked))._tag)
      assert.strictEqual(yield* got(asked), Msat.zero)
    }
  ),
  "C8: an attempt that was never made is not found": Effect.gen(function* () {
    const asked = yield* offered("settle")
    assert.deepStrictEqual<unknown>(yield* lookup(asked), { _tag: "notFound" })
    assert.strictEqual(yield* got(asked), Msat.zero)
  }),
  "C2: a node that does not respond leaves a payment unknown, not failed": Effect.gen(function* () {
    const asked = yield* offered("settle")
    const [answer, before] = yield* withoutWire(Effect.all([pay(asked), lookup(asked)]))
    assert.include(["unknown", "notSent"], answer._tag)
    assert.deepStrictEqual<unknown>(before, { _tag: "unknown" })
    const after = yield* eventually(
      lookup(asked),
      ({ _tag }) => _tag === "notFound" || _tag === "settled" || _tag === "failed"
    )
    assert.strictEqual(yield* got(asked), after._tag === "settled" ? amount : Msat.zero)
    yield* pay(asked)
    yield* isSettled(asked)
  }),
  "C3: an attempt reported as not sent was not sent: it is not found, the issuer received nothing, and repeating the call pays once":
    Effect.gen(function* () {
      const asked = yield* offered("settle")
      const answer = yield* withoutWire(pay(asked))
      if (answer._tag === "notSent") {
        assert.deepStrictEqual<unknown>(yield* eventually(lookup(asked), ({ _tag }) => _tag !== "unknown"), {
          _tag: "notFound"
        })
        assert.strictEqual(yield* got(asked), Msat.zero)
      }
      yield* pay(asked)
      yield* isSettled(asked)
    }),
  "C6: a settled payment is reported as unknown while its state cannot be read, and as settled afterward":
    Effect.gen(function* () {
      const asked = yield* offered("settle")
      yield* pay(asked)
      const before = yield* isSettled(asked)
      assert.deepStrictEqual<unknown>(yield* withoutWire(lookup(asked)), { _tag: "unknown" })
      assert.deepStrictEqual<OfferPayment>(yield* isSettled(asked), before)
    })
} satisfies Contract.Promises<OfferSender | Peer>

/** Other guarantees. */
export const other = {
  "a quote is within the limit, states the probability of success and sends nothing": Effect.gen(
    function* () {
      const asked = yield* offered("settle")
      const quote = yield* (yield* OfferSender).quote(asked)
      if (quote === undefined) return assert.fail("no route")
      assert.isTrue(quote.fee >= 0n && quote.fee <= generous)
      assert.isAbove(quote.probability, 0)
      assert.isAtMost(quote.probability, 1)
      assert.deepStrictEqual<unknown>(yield* lookup(asked), { _tag: "notFound" })
      assert.strictEqual(yield* got(asked), Msat.zero)
    }
  ),
  "there is no quote if no route exists": Effect.gen(function* () {
    assert.isUndefined(yield* (yield* OfferSender).quote(asking(yield* (yield* Peer).unreachable(amount))))
  }),
  "there is no quote if every route exceeds the limit": Effect.gen(function* () {
    assert.isUndefined(
      yield* (yield* OfferSender).quote({ ...(yield* offered("settle")), feeLimit: Msat.zero })
    )
  }),
  "if the node does not respond, a quote fails as unavailable": Effect.gen(function* () {
    const asked = yield* offered("settle")
    const exit = yield* withoutWire(Effect.exit(Effect.flip((yield* OfferSender).quote(asked))))
    assert.isTrue(Exit.isSuccess(exit) && exit.value._tag === "NodeUnavailable")
  }),
  "if the node supports notifications, a subscriber is notified when an attempt has settled or failed, and not earlier":
    Effect.gen(function* () {
      const { ends } = yield* OfferSender
      const heard: Array<string> = []
      const listening = yield* Effect.forkChild(
        Stream.runForEach(ends, (attempt) => Effect.sync(() => heard.push(attempt))),
        { startImmediately: true }
      )
      // The first notification shows that the subscription is active.
      const tried = Effect.gen(function* () {
        const asked = yield* offered("settle")
        yield* pay(asked)
        yield* isSettled(asked)
        return listening.pollUnsafe() !== undefined || heard.length > 0
      })
      yield* eventually(tried, (is) => is)
      if (listening.pollUnsafe() !== undefined) return assert.deepStrictEqual(heard, [])
      const late = yield* held
      const has = (asked: OfferAsk) => Effect.sync(() => heard.includes(asked.attempt))
      assert.isFalse(yield* has(late))
      yield* release(late, "settle")
      yield* eventually(has(late), (is) => is)
      yield* isSettled(late)
      yield* Fiber.interrupt(listening)
    })
} satisfies Contract.Promises<OfferSender | Peer>

/**
 * The guarantees that every OfferSender must provide. Each entry is one guarantee; a number such as C25 names
 * the incident that it prevents.
 */
export const promises = { ...money, ...other }

/** Runs the contract against a layer and its peer. */
export const suite = Contract.suite<OfferSender | Peer, typeof money, typeof other>("OfferSender", {
  money,
  other
})
