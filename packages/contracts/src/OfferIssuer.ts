import { assert } from "@effect/vitest"
import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { LightningReceiver, type Settled } from "@satrail/core/nodes/LightningReceiver"
import { OfferIssuer } from "@satrail/core/nodes/OfferIssuer"
import { Context, Effect, Exit, Result, Stream } from "effect"
import * as Contract from "./Contract.ts"

/** The other side of the wire: a wallet that pays offers, and the wire between us and our node. */
export class Peer extends Context.Service<
  Peer,
  {
    /** Pays an offer, and succeeds once its issuer has taken the payment. */
    readonly pay: (offer: string, amount: Msat.Msat) => Effect.Effect<void, unknown>
    readonly cut: Effect.Effect<void, unknown>
    readonly mend: Effect.Effect<void, unknown>
  }
>()("@satrail/contracts/OfferIssuer/Peer") {}

const description = "coffee"

const issued = Effect.fnUntraced(function* (id: string = crypto.randomUUID(), amount: Msat.Msat | null = null) {
  return { id, offer: yield* (yield* OfferIssuer).createOffer({ id, description, amount }) }
})

const pay = Effect.fnUntraced(function* (offer: string, sats: number) {
  yield* (yield* Peer).pay(offer, Msat.fromSats(sats))
})

/** What is told of an offer after a place, once there are so many. */
const told = Effect.fnUntraced(function* (offerId: string, count: number, after: string | null = null) {
  const { settlements } = yield* LightningReceiver
  const found: ReadonlyArray<Settled> = yield* settlements(after).pipe(
    Stream.filter((one) => one.offerId === offerId),
    Stream.take(count),
    Stream.runCollect
  )
  return found
})

/** What keeps a payment from being nobody's, or credited twice. */
export const money = {
  "an offer is of the node's network, without an amount and without an end, and says what it is for": Effect.gen(function* () {
    const { network } = yield* LightningReceiver
    const { offer: text } = yield* issued()
    const { amount, absoluteExpirySeconds, description: says, networks, offer } = Result.getOrThrow(Bolt12.decode(text))
    assert.strictEqual(text, offer, "in lower case and in one piece")
    assert.deepStrictEqual([...networks], [network])
    assert.isUndefined(amount)
    assert.isUndefined(absoluteExpirySeconds)
    assert.strictEqual(says, description)
  }),
  "an offer with an amount asks for it": Effect.gen(function* () {
    const amount = Msat.fromSats(21)
    const { offer } = yield* issued(undefined, amount)
    assert.strictEqual(Result.getOrThrow(Bolt12.decode(offer)).amount, amount)
  }),
  "the same id is the same offer, and another id another one": Effect.gen(function* () {
    const { id, offer } = yield* issued()
    assert.strictEqual((yield* issued(id)).offer, offer)
    assert.notStrictEqual((yield* issued()).offer, offer)
  }),
  "C60: a payment of an offer is told with the offer's id, what arrived, and a preimage that proves its hash": Effect.gen(function* () {
    const [one, other] = [yield* issued(), yield* issued()]
    yield* pay(other.offer, 2000)
    yield* pay(one.offer, 3000)
    for (const [{ id }, sats] of [
      [one, 3000],
      [other, 2000]
    ] as const) {
      for (const { paymentHash, preimage, received } of yield* told(id, 1)) {
        assert.isTrue(Preimage.proves(preimage, paymentHash))
        assert.strictEqual(received, Msat.fromSats(sats))
      }
    }
  }),
  "two payments of an offer have hashes of their own, and the second is told after the first's place": Effect.gen(function* () {
    const { id, offer } = yield* issued()
    yield* pay(offer, 1000)
    const [first] = yield* told(id, 1)
    if (first === undefined) return assert.fail("it is told")
    yield* pay(offer, 1000)
    const [second] = yield* told(id, 1, first.cursor)
    if (second === undefined) return assert.fail("it is told after the first")
    assert.notStrictEqual(second.paymentHash, first.paymentHash)
    assert.deepStrictEqual(yield* told(id, 2), [first, second])
  })
} satisfies Contract.Promises<OfferIssuer | LightningReceiver | Peer>

/** The rest. */
export const other = {
  "a node that does not answer issues nothing, which is an outage": Effect.gen(function* () {
    const peer = yield* Peer
    const exit = yield* Contract.withoutWire(peer, Effect.exit(Effect.flip(issued())))
    assert.isTrue(Exit.isSuccess(exit) && exit.value._tag === "NodeUnavailable")
  })
} satisfies Contract.Promises<OfferIssuer | LightningReceiver | Peer>

/** What every OfferIssuer promises. One entry, one promise; a number such as C60 names the incident that it prevents. */
export const promises = { ...money, ...other }

/** Holds a layer, and the peer that comes with it, to every promise. */
export const suite = Contract.suite<OfferIssuer | LightningReceiver | Peer, typeof money, typeof other>("OfferIssuer", { money, other })
