import { assert } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Id from "@satrail/core/base/Id"
import { LightningBooks, type Owned, type Sent, type Taken } from "@satrail/core/nodes/LightningBooks"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Effect, Result } from "effect"
import * as Contract from "../Contract.ts"
import { eventually } from "../Eventually.ts"
import { Peer as Payer } from "./LightningReceiver.ts"
import { type Behaviour, Peer as Payees } from "./LightningSender.ts"

/** The node whose books are read, and its peers: an external payer, and payees it can reach. */
type Ports = LightningBooks | LightningReceiver | LightningSender | Payer | Payees

const amount = Msat.fromSats(10_000)

/** Pays an external payee from our node. Returns the invoice. */
const pay = Effect.fnUntraced(function* (behaviour: Behaviour = "settle") {
  const invoice = Result.getOrThrow(Bolt11.decode(yield* (yield* Payees).invoice({ amount, behaviour })))
  const { pay, lookupPayment } = yield* LightningSender
  yield* pay({ invoice, amount, feeLimit: Msat.fromSats(1_000) })
  const rests = { settle: "settled", fail: "failed", hold: "pending" } as const
  yield* eventually(lookupPayment(invoice.paymentHash), ({ _tag }) => _tag === rests[behaviour])
  return invoice
})

/** Has an external wallet pay our node's invoice, adding `more` to its amount. */
const receive = Effect.fnUntraced(function* (sats: number, more = Msat.zero) {
  const { createInvoice, lookupInvoice } = yield* LightningReceiver
  const asked = Msat.fromSats(sats)
  const description = { _tag: "Text", text: "coffee" } as const
  const { paymentHash, paymentRequest } = yield* createInvoice({
    id: yield* Id.make,
    amount: asked,
    description,
    expirySeconds: 1800
  })
  yield* (yield* Payer).pay(paymentRequest, more === 0n ? undefined : Msat.sum(asked, more))
  yield* eventually(lookupInvoice(paymentHash), ({ _tag }) => _tag === "settled")
  return paymentHash
})

/** The current end of the node's books. */
const ends = Effect.gen(function* () {
  const { sent, taken } = yield* LightningBooks
  const [outside, inside] = [yield* sent(null), yield* taken(null)]
  assert.deepStrictEqual<ReadonlyArray<unknown>>([outside.lines, inside.lines], [[], []])
  return { sent: outside.cursor, taken: inside.cursor }
})

/** Reads every payment sent after a position, page by page. */
const sentAfter = Effect.fnUntraced(function* (place: string) {
  const { sent } = yield* LightningBooks
  const all: Array<Sent> = []
  for (let page = yield* sent(place); page.lines.length > 0; page = yield* sent(page.cursor))
    all.push(...page.lines)
  return all
})
const takenAfter = Effect.fnUntraced(function* (place: string) {
  const { taken } = yield* LightningBooks
  const all: Array<Taken> = []
  for (let page = yield* taken(place); page.lines.length > 0; page = yield* taken(page.cursor))
    all.push(...page.lines)
  return all
})

const owned = Effect.flatMap(LightningBooks, ({ owned }) => owned)

/** Waits until the node's funds have changed by this amount. A channel's balance settles a moment after the payment. */
const moved = Effect.fnUntraced(function* (before: Owned, by: bigint) {
  yield* eventually(owned, ({ amount, within }) => {
    const off = amount - before.amount - by
    const most = before.within + within
    return off <= most && off >= -most
  })
})

/** Guarantees that reconciliation depends on. */
export const money = {
  "a settled payment is listed with its amount, fee and status": Effect.gen(function* () {
    const place = yield* ends
    const { paymentHash } = yield* pay()
    const lookup = yield* (yield* LightningSender).lookupPayment(paymentHash)
    const fee = lookup._tag === "settled" ? lookup.fee : assert.fail(lookup._tag)
    assert.deepStrictEqual<ReadonlyArray<Sent>>(yield* sentAfter(place.sent), [
      { paymentHash, amount, fee, state: "settled" }
    ])
  }),
  "a failed payment is listed as failed and a held one as pending, each with its amount": Effect.gen(
    function* () {
      const place = yield* ends
      const [failed, held] = [yield* pay("fail"), yield* pay("hold")]
      assert.deepStrictEqual(
        (yield* sentAfter(place.sent)).map((line) => [line.paymentHash, line.state, line.amount]),
        [
          [failed.paymentHash, "failed", amount],
          [held.paymentHash, "pending", amount]
        ]
      )
      yield* (yield* Payees).release(held.paymentHash, "settle")
      yield* eventually(sentAfter(place.sent), (lines) => lines.at(-1)?.state === "settled")
    }
  ),
  "each payment is listed once, in the order in which payments were started, from any cursor": Effect.gen(
    function* () {
      const place = yield* ends
      const hashes = [(yield* pay()).paymentHash, (yield* pay("fail")).paymentHash]
      const middle = (yield* ends).sent
      hashes.push((yield* pay()).paymentHash)
      const told = Effect.map(sentAfter(place.sent), (lines) => lines.map(({ paymentHash }) => paymentHash))
      assert.deepStrictEqual(yield* told, hashes)
      assert.deepStrictEqual(yield* told, hashes)
      assert.deepStrictEqual(
        (yield* sentAfter(middle)).map(({ paymentHash }) => paymentHash),
        hashes.slice(-1)
      )
      assert.deepStrictEqual(yield* sentAfter((yield* ends).sent), [])
    }
  ),
  "C33: a receipt is listed with the received amount, even if that is above the invoice's amount": Effect.gen(
    function* () {
      const place = yield* ends
      const paymentHash = yield* receive(1000, Msat.fromSats(10))
      assert.deepStrictEqual<ReadonlyArray<Taken>>(yield* takenAfter(place.taken), [
        { paymentHash, received: Msat.fromSats(1010) }
      ])
    }
  ),
  "each receipt is listed once, in the order in which receipts settled, from any cursor": Effect.gen(
    function* () {
      const place = yield* ends
      const hashes = [yield* receive(1), yield* receive(2)]
      const middle = (yield* ends).taken
      hashes.push(yield* receive(3))
      const told = Effect.map(takenAfter(place.taken), (lines) => lines.map(({ paymentHash }) => paymentHash))
      assert.deepStrictEqual(yield* told, hashes)
      assert.deepStrictEqual(yield* told, hashes)
      assert.deepStrictEqual(
        (yield* takenAfter(middle)).map(({ paymentHash }) => paymentHash),
        hashes.slice(-1)
      )
      assert.deepStrictEqual(yield* takenAfter((yield* ends).taken), [])
    }
  ),
  "the node's balance rises by each amount received": Effect.gen(function* () {
    const before = yield* owned
    yield* receive(5000)
    yield* moved(before, Msat.fromSats(5000))
  }),
  "the node's balance falls by a payment and its fee once the payment settles": Effect.gen(function* () {
    const before = yield* owned
    const { paymentHash } = yield* pay("hold")
    yield* moved(before, 0n)
    yield* (yield* Payees).release(paymentHash, "settle")
    const lookup = yield* eventually(
      (yield* LightningSender).lookupPayment(paymentHash),
      ({ _tag }) => _tag === "settled"
    )
    yield* moved(before, lookup._tag === "settled" ? -(amount + lookup.fee) : assert.fail())
  }),
  "each receipt lowers the inbound liquidity and raises the outbound liquidity": Effect.gen(function* () {
    const { capacity } = yield* LightningBooks
    const before = yield* capacity
    yield* receive(50_000)
    // At the first read, an earlier payment may have settled on our side only. Also, each HTLC changes the cost
    // of the commitment transaction by some 400 satoshis.
    const slack = amount + Msat.fromSats(5_000)
    const isNear = (difference: bigint) =>
      difference >= Msat.fromSats(50_000) - slack && difference <= Msat.fromSats(50_000) + slack
    yield* eventually(
      capacity,
      ({ incoming, outgoing }) => isNear(before.incoming - incoming) && isNear(outgoing - before.outgoing)
    )
  }),
  "usable channels are counted as active, and none of them as closing": Effect.gen(function* () {
    const { capacity } = yield* LightningBooks
    yield* eventually(
      capacity,
      ({ channels }) => channels !== undefined && channels.active > 0 && channels.inactive === 0
    )
    const { channels } = yield* capacity
    assert.deepStrictEqual([channels?.closing, channels?.forceClosing], [0, 0])
  }),
  "a failed payment costs nothing": Effect.gen(function* () {
    const before = yield* owned
    yield* pay("fail")
    yield* moved(before, 0n)
  })
} satisfies Contract.Promises<Ports>

/** Other guarantees. */
export const other = {
  "if the node does not respond, every read fails as unavailable": Effect.gen(function* () {
    const { owned, capacity, sent, taken } = yield* LightningBooks
    const place = yield* ends
    const said = yield* Contract.withoutWire(
      yield* Payees,
      Effect.all([
        Effect.flip(owned),
        Effect.flip(capacity),
        Effect.flip(sent(place.sent)),
        Effect.flip(taken(place.taken))
      ])
    )
    assert.deepStrictEqual(
      said.map(({ _tag }) => _tag),
      ["NodeUnavailable", "NodeUnavailable", "NodeUnavailable", "NodeUnavailable"]
    )
  })
} satisfies Contract.Promises<Ports>

/**
 * The guarantees that every LightningBooks must provide. Each entry is one guarantee; a number such as C33
 * names the incident that it prevents.
 */
export const promises: {
  readonly [promise in keyof typeof money | keyof typeof other]: Effect.Effect<void, unknown, Ports>
} = {
  ...money,
  ...other
}

/**
 * Runs the contract against a layer and its peers. No other payment to or from the node may be made while the
 * contract runs.
 */
export const suite = Contract.suite<Ports, typeof money, typeof other>("LightningBooks", { money, other })
