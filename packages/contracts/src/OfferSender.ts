import { assert } from "@effect/vitest"
import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { OfferSender, type OfferAsk, type OfferPayment } from "@satrail/core/nodes/OfferSender"
import { Context, Effect, Exit, Fiber, Result, Stream } from "effect"
import * as Contract from "./Contract.ts"
import { eventually } from "./Eventually.ts"

/**
 * What the issuer of an offer does: sends an invoice and takes its payment, refuses that, or holds it until it is released; refuses to send an invoice, or does not
 * answer.
 */
export type Behaviour = "settle" | "fail" | "hold" | "refuse" | "unreachable"

/** The other side of the wire: issuers of offers that the node can reach over at least one other node, so that a route costs something. */
export class Peer extends Context.Service<
  Peer,
  {
    /** A fresh offer, without an amount where none is given. */
    readonly offer: (ask: { readonly amount?: Msat.Msat; readonly behaviour: Behaviour }) => Effect.Effect<string, unknown>
    /** A fresh offer of a node that no route leads to. */
    readonly unreachable: (amount: Msat.Msat) => Effect.Effect<string, unknown>
    /** What the issuer of an offer really got for it in all. */
    readonly received: (offer: string) => Effect.Effect<Msat.Msat, unknown>
    /** Ends every payment of an offer that its issuer holds. */
    readonly release: (offer: string, outcome: "settle" | "fail") => Effect.Effect<void, unknown>
    /** Cuts the wire between us and our node, and mends it. Nothing that was sent before is lost by that. */
    readonly cut: Effect.Effect<void, unknown>
    readonly mend: Effect.Effect<void, unknown>
  }
>()("@satrail/contracts/OfferSender/Peer") {}

const amount = Msat.fromSats(10_000)
const generous = Msat.fromSats(1_000)

const asking = (offer: string): OfferAsk => ({
  attempt: crypto.randomUUID(),
  offer: Result.getOrThrow(Bolt12.decode(offer)),
  amount,
  feeLimit: generous
})

/** An offer to be paid, whose issuer behaves so. */
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

/** It is settled, the preimage proves what is reported, and the issuer has this much. */
const isSettled = Effect.fnUntraced(function* (asked: OfferAsk, received = asked.amount) {
  const payment = yield* outcome(asked)
  if (payment._tag === "failed" && (yield* got(asked)) === received - asked.amount)
    return assert.fail(`nothing was paid: ${payment.reason}`)
  if (payment._tag !== "settled") return assert.fail(`it is ${payment._tag}`)
  assert.isTrue(Preimage.proves(payment.preimage, payment.paymentHash))
  assert.isTrue(payment.fee <= asked.feeLimit)
  // The issuer's books may come a moment after the preimage.
  assert.strictEqual(yield* eventually(got(asked), (amount) => amount >= received), received)
  return payment
})

const isFailed = Effect.fnUntraced(function* (asked: OfferAsk) {
  assert.strictEqual((yield* outcome(asked))._tag, "failed")
  assert.strictEqual(yield* got(asked), Msat.zero)
})

/** A payment that the issuer holds. */
const held = Effect.gen(function* () {
  const asked = yield* offered("hold")
  assert.notInclude(["settled", "failed"], (yield* pay(asked))._tag)
  yield* eventually(lookup(asked), ({ _tag }) => _tag === "pending")
  return asked
})

const release = Effect.fnUntraced(function* ({ offer: { offer } }: OfferAsk, how: "settle" | "fail") {
  yield* (yield* Peer).release(offer, how)
})

const withoutWire = <A, E, R>(use: Effect.Effect<A, E, R>) => Effect.flatMap(Peer, (peer) => Contract.withoutWire(peer, use))

/** What keeps money from being sent twice, refunded too early, or spent on fees. */
export const money = {
  "a payment arrives, and its preimage proves the hash that is reported": Effect.gen(function* () {
    const asked = yield* offered("settle")
    assert.isUndefined(asked.offer.amount)
    yield* pay(asked)
    yield* isSettled(asked)
  }),
  "of an offer with an amount the requested one is paid: that, or more": Effect.gen(function* () {
    for (const least of [amount, Msat.make(amount / 2n)]) {
      const asked = yield* offered("settle", least)
      assert.strictEqual(asked.offer.amount, least)
      yield* pay(asked)
      yield* isSettled(asked)
    }
  }),
  "less than an offer asks for is not paid": Effect.gen(function* () {
    const asked = yield* offered("settle", Msat.make(amount + 1n))
    yield* pay(asked)
    yield* isFailed(asked)
  }),
  "C25 C26 C28 C38: the fee limit is never exceeded: with a millisatoshi less than the best route costs, nothing is sent": Effect.gen(
    function* () {
      const asked = yield* offered("settle")
      yield* pay(asked)
      const { fee } = yield* isSettled(asked)
      if (fee === 0n) return assert.fail("the peer is to be reached over a node that charges")
      const scant = { ...(yield* offered("settle")), feeLimit: Msat.make(fee - 1n) }
      yield* pay(scant)
      yield* isFailed(scant)
    }
  ),
  "C25 C26: with a fee limit of 0 no fee is paid": Effect.gen(function* () {
    const asked = { ...(yield* offered("settle")), feeLimit: Msat.zero }
    yield* pay(asked)
    yield* isFailed(asked)
  }),
  "C11: an attempt is paid once, however often it is asked for": Effect.gen(function* () {
    const asked = yield* offered("settle")
    yield* pay(asked)
    const first = yield* isSettled(asked)
    assert.notStrictEqual((yield* pay(asked))._tag, "failed")
    assert.deepStrictEqual<unknown>(yield* isSettled(asked), first)
  }),
  "C11: an attempt is paid once, by eight at once": Effect.gen(function* () {
    const asked = yield* offered("settle")
    const answers = yield* Effect.forEach(Array.from({ length: 8 }), () => pay(asked), { concurrency: "unbounded" })
    assert.notInclude(
      answers.map(({ _tag }) => _tag),
      "failed"
    )
    yield* isSettled(asked)
  }),
  "two attempts to pay an offer are two payments": Effect.gen(function* () {
    const one = yield* offered("settle")
    const other = { ...one, attempt: crypto.randomUUID() }
    yield* pay(one)
    yield* isSettled(one)
    assert.deepStrictEqual<unknown>(yield* lookup(other), { _tag: "notFound" })
    yield* pay(other)
    yield* isSettled(other, Msat.make(amount * 2n))
  }),
  "C1: a held payment is pending, is not sent again, and may settle at any time": Effect.gen(function* () {
    const asked = yield* held
    assert.notInclude(["settled", "failed"], (yield* pay(asked))._tag)
    assert.strictEqual((yield* lookup(asked))._tag, "pending")
    assert.strictEqual(yield* got(asked), Msat.zero)
    yield* release(asked, "settle")
    yield* isSettled(asked)
  }),
  "C1: a held payment may fail at any time, and then nothing was paid": Effect.gen(function* () {
    const asked = yield* held
    yield* release(asked, "fail")
    yield* isFailed(asked)
  }),
  "a payment that the issuer refuses has failed, and stays so when it is asked for again": Effect.gen(function* () {
    const asked = yield* offered("fail")
    for (const _ of [1, 2]) {
      yield* pay(asked)
      yield* isFailed(asked)
    }
  }),
  "an issuer that refuses to send an invoice, or has no route to it, is not paid": Effect.gen(function* () {
    const all = [yield* offered("refuse"), asking(yield* (yield* Peer).unreachable(amount))]
    // A real node waits for minutes until it gives such a one up.
    for (const asked of all) yield* pay(asked)
    for (const asked of all) yield* isFailed(asked)
  }),
  "an issuer that does not answer is not paid: the attempt is pending or has failed": Effect.gen(function* () {
    const asked = yield* offered("unreachable")
    yield* pay(asked)
    assert.include(["pending", "failed"], (yield* lookup(asked))._tag)
    assert.strictEqual(yield* got(asked), Msat.zero)
  }),
  "C8: there is no record of an attempt that was never made": Effect.gen(function* () {
    const asked = yield* offered("settle")
    assert.deepStrictEqual<unknown>(yield* lookup(asked), { _tag: "notFound" })
    assert.strictEqual(yield* got(asked), Msat.zero)
  }),
  "C2: a node that does not answer has not refused: unknown is not failed": Effect.gen(function* () {
    const asked = yield* offered("settle")
    const [answer, before] = yield* withoutWire(Effect.all([pay(asked), lookup(asked)]))
    assert.include(["unknown", "notSent"], answer._tag)
    assert.deepStrictEqual<unknown>(before, { _tag: "unknown" })
    const after = yield* eventually(lookup(asked), ({ _tag }) => _tag === "notFound" || _tag === "settled" || _tag === "failed")
    assert.strictEqual(yield* got(asked), after._tag === "settled" ? amount : Msat.zero)
    yield* pay(asked)
    yield* isSettled(asked)
  }),
  "C3: an attempt reported as not sent was not: there is no record of it, its issuer has nothing, and called again it is paid once":
    Effect.gen(function* () {
      const asked = yield* offered("settle")
      const answer = yield* withoutWire(pay(asked))
      if (answer._tag === "notSent") {
        assert.deepStrictEqual<unknown>(yield* eventually(lookup(asked), ({ _tag }) => _tag !== "unknown"), { _tag: "notFound" })
        assert.strictEqual(yield* got(asked), Msat.zero)
      }
      yield* pay(asked)
      yield* isSettled(asked)
    }),
  "C6: a settled payment whose state cannot be read is unknown, and settled when it can": Effect.gen(function* () {
    const asked = yield* offered("settle")
    yield* pay(asked)
    const before = yield* isSettled(asked)
    assert.deepStrictEqual<unknown>(yield* withoutWire(lookup(asked)), { _tag: "unknown" })
    assert.deepStrictEqual<OfferPayment>(yield* isSettled(asked), before)
  })
} satisfies Contract.Promises<OfferSender | Peer>

/** The rest. */
export const other = {
  "a quote is within the limit, says how likely it is, and sends nothing": Effect.gen(function* () {
    const asked = yield* offered("settle")
    const quote = yield* (yield* OfferSender).quote(asked)
    if (quote === undefined) return assert.fail("no route")
    assert.isTrue(quote.fee >= 0n && quote.fee <= generous)
    assert.isAbove(quote.probability, 0)
    assert.isAtMost(quote.probability, 1)
    assert.deepStrictEqual<unknown>(yield* lookup(asked), { _tag: "notFound" })
    assert.strictEqual(yield* got(asked), Msat.zero)
  }),
  "there is no quote without a route": Effect.gen(function* () {
    assert.isUndefined(yield* (yield* OfferSender).quote(asking(yield* (yield* Peer).unreachable(amount))))
  }),
  "there is no quote with a limit below every route": Effect.gen(function* () {
    assert.isUndefined(yield* (yield* OfferSender).quote({ ...(yield* offered("settle")), feeLimit: Msat.zero }))
  }),
  "a node that does not answer gives no quote, which is an outage": Effect.gen(function* () {
    const asked = yield* offered("settle")
    const exit = yield* withoutWire(Effect.exit(Effect.flip((yield* OfferSender).quote(asked))))
    assert.isTrue(Exit.isSuccess(exit) && exit.value._tag === "NodeUnavailable")
  }),
  "a subscriber is notified of an attempt when it ends, and not before; never by a node without notifications": Effect.gen(function* () {
    const { ends } = yield* OfferSender
    const heard: Array<string> = []
    const listening = yield* Effect.forkChild(
      Stream.runForEach(ends, (attempt) => Effect.sync(() => heard.push(attempt))),
      { startImmediately: true }
    )
    // Whether a subscription is active shows in the first payment that is notified.
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

/** What every OfferSender promises. One entry, one promise; a number such as C25 names the incident that it prevents. */
export const promises = { ...money, ...other }

/** Holds a layer, and the peer that comes with it, to every promise. */
export const suite = Contract.suite<OfferSender | Peer, typeof money, typeof other>("OfferSender", { money, other })
