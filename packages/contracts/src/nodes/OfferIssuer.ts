import { assert } from "@effect/vitest"
import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { LightningReceiver, type Settled } from "@satrail/core/nodes/LightningReceiver"
import { OfferIssuer } from "@satrail/core/nodes/OfferIssuer"
import { Context, Effect, Exit, Result, Stream } from "effect"
import * as Contract from "../Contract.ts"

/** The contract's peer: a wallet that pays offers, and control over the connection between us and our node. */
export class Peer extends Context.Service<
  Peer,
  {
    /** Pays an offer, and succeeds once its issuer has received the payment. */
    readonly pay: (offer: string, amount: Msat.Msat) => Effect.Effect<void, unknown>
    readonly cut: Effect.Effect<void, unknown>
    readonly mend: Effect.Effect<void, unknown>
  }
>()("@satrail/contracts/nodes/OfferIssuer/Peer") {}

const description = "coffee"

const issued = Effect.fnUntraced(function* (
  id: string = crypto.randomUUID(),
  amount: Msat.Msat | null = null
) {
  return { id, offer: yield* (yield* OfferIssuer).createOffer({ id, description, amount }) }
})

const pay = Effect.fnUntraced(function* (offer: string, sats: number) {
  yield* (yield* Peer).pay(offer, Msat.fromSats(sats))
})

/** Waits until `count` payments are reported for an offer after a position, and returns them. */
const told = Effect.fnUntraced(function* (offerId: string, count: number, after: string | null = null) {
  const { settlements } = yield* LightningReceiver
  const found: ReadonlyArray<Settled> = yield* settlements(after).pipe(
    Stream.filter((one) => one.offerId === offerId),
    Stream.take(count),
    Stream.runCollect
  )
  return found
})

/** Guarantees that no payment is left unassigned or credited twice. */
export const money = {
  "an offer is for the node's network, has no amount and no expiry, and contains the description": Effect.gen(
    function* () {
      const { network } = yield* LightningReceiver
      const { offer: text } = yield* issued()
      const {
        amount,
        absoluteExpirySeconds,
        description: says,
        networks,
        offer
      } = Result.getOrThrow(Bolt12.decode(text))
      assert.strictEqual(text, offer, "in lower case, without line breaks")
      assert.deepStrictEqual([...networks], [network])
      assert.isUndefined(amount)
      assert.isUndefined(absoluteExpirySeconds)
      assert.strictEqual(says, description)
    }
  ),
  "an offer with an amount requests that amount": Effect.gen(function* () {
    const amount = Msat.fromSats(21)
    const { offer } = yield* issued(undefined, amount)
    assert.strictEqual(Result.getOrThrow(Bolt12.decode(offer)).amount, amount)
  }),
  "the same id returns the same offer, and a different id returns a different offer": Effect.gen(
    function* () {
      const { id, offer } = yield* issued()
      assert.strictEqual((yield* issued(id)).offer, offer)
      assert.notStrictEqual((yield* issued()).offer, offer)
    }
  ),
  "C60: an offer payment is reported with the offer's id, the amount and a valid preimage": Effect.gen(
    function* () {
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
    }
  ),
  "two payments to an offer have different hashes, and the second is reported after the first one's cursor":
    Effect.gen(function* () {
      const { id, offer } = yield* issued()
      yield* pay(offer, 1000)
      const [first] = yield* told(id, 1)
      if (first === undefined) return assert.fail("the payment must be reported")
      yield* pay(offer, 1000)
      const [second] = yield* told(id, 1, first.cursor)
      if (second === undefined) return assert.fail("the second payment must be reported after the first")
      assert.notStrictEqual(second.paymentHash, first.paymentHash)
      assert.deepStrictEqual(yield* told(id, 2), [first, second])
    })
} satisfies Contract.Promises<OfferIssuer | LightningReceiver | Peer>

/** Other guarantees. */
export const other = {
  "if the node does not respond, the request fails as unavailable and no offer is issued": Effect.gen(
    function* () {
      const peer = yield* Peer
      const exit = yield* Contract.withoutWire(peer, Effect.exit(Effect.flip(issued())))
      assert.isTrue(Exit.isSuccess(exit) && exit.value._tag === "NodeUnavailable")
    }
  )
} satisfies Contract.Promises<OfferIssuer | LightningReceiver | Peer>

/**
 * The guarantees that every OfferIssuer must provide. Each entry is one guarantee; a number such as C60 names
 * the incident that it prevents.
 */
export const promises = { ...money, ...other }

/** Runs the contract against a layer and its peer. */
export const suite = Contract.suite<OfferIssuer | LightningReceiver | Peer, typeof money, typeof other>(
  "OfferIssuer",
  { money, other }
)
