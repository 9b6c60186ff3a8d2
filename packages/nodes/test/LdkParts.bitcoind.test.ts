import { assert, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { eventually } from "@satrail/contracts/Eventually"
import * as Id from "@satrail/core/base/Id"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import * as LdkNetwork from "@satrail/regtest/LdkNetwork"
import * as Lnd from "@satrail/regtest/Lnd"
import { Network } from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Process from "@satrail/regtest/Process"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer, Result, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { adapter } from "./LdkReturns.ts"

// Payments too large for either of dora's channels. One channel is with bob, the other with alice, who has a
// channel with bob.

const layer = Layer.provideMerge(adapter, LdkNetwork.layer)

const Sides = Schema.Struct({
  channels: Schema.Array(Schema.Struct({ outgoing: Msat.FromString, incoming: Msat.FromString }))
})

/** Waits until a node knows this many channels and the fees at both ends of each. */
const heard = (node: Lnd.Lnd, count: number) => {
  const Graph = Schema.Struct({
    edges: Schema.Array(Schema.Struct({ node1_policy: Schema.Unknown, node2_policy: Schema.Unknown }))
  })
  const known = Effect.map(
    Lnd.ask(node, HttpClientRequest.get("/v1/graph"), Graph),
    ({ edges }) => edges.filter((one) => one.node1_policy !== null && one.node2_policy !== null).length
  )
  return Process.until(
    `${node.name} knows ${count} channels`,
    Effect.map(known, (channels) => (channels >= count ? true : undefined))
  )
}

Real.suite("ldk, in several parts", ["bitcoind", "lnd", "ldk"], () => {
  it.layer(layer, { excludeTestServices: true })((it) => {
    it.effect(
      "ldk: a payment larger than any single channel is received or sent once, over two channels",
      () =>
        Effect.gen(function* () {
          const { dora } = yield* LdkNetwork.LdkNetwork
          const { alice, bob } = yield* Network
          const { createInvoice, lookupInvoice } = yield* LightningReceiver
          const { owned, taken } = yield* LightningBooks
          const { pay, lookupPayment } = yield* LightningSender
          const second = {
            node: alice.nodeId,
            address: alice.p2p,
            sats: 15_000_000,
            pushMsat: 7_000_000_000,
            announce: true
          }
          yield* Process.until("dora opens a second channel", dora.ask("openChannel", second, Schema.Unknown))
          yield* Effect.sleep("1 second")
          yield* LdkNetwork.mine(6, [dora])
          const usable = Schema.Struct({ channels: Schema.Array(Schema.Struct({ usable: Schema.Boolean })) })
          yield* Process.until(
            "dora can use two channels",
            Effect.map(
              dora.ask("channels", {}, usable),
              ({ channels }) => channels.filter(({ usable }) => usable).length === 2 || undefined
            )
          )
          for (const node of [alice, bob]) yield* heard(node, 4)
          const channels = Effect.map(dora.ask("channels", {}, Sides), ({ channels }) => channels)
          const resting = Effect.map(
            eventually(Effect.orDie(owned), ({ within }) => within === 0n),
            ({ amount }) => amount
          )
          const before = yield* resting
          const place = (yield* taken(null)).cursor

          const incoming = Msat.fromSats(10_000_000)
          assert.isTrue((yield* channels).every((one) => one.incoming < incoming))
          const description = { _tag: "Text", text: "a car" } as const
          const issued = yield* createInvoice({
            id: yield* Id.make,
            amount: incoming,
            description,
            expirySeconds: 1800
          })
          yield* Peer.pay(bob, issued.paymentRequest)
          const state = yield* eventually(lookupInvoice(issued.paymentHash), ({ _tag }) => _tag === "settled")
          assert.strictEqual(state._tag === "settled" ? state.received : 0n, incoming)
          assert.deepStrictEqual((yield* taken(place)).lines, [
            { paymentHash: issued.paymentHash, received: incoming }
          ])
          assert.strictEqual((yield* resting) - before, incoming)

          const most = (yield* channels).reduce(
            (most, { outgoing }) => (outgoing > most ? outgoing : most),
            0n
          )
          const amount = Msat.make(most + Msat.fromSats(500_000))
          const invoice = Result.getOrThrow(
            Bolt11.decode(yield* Peer.invoice(bob, { amount, behaviour: "settle" }))
          )
          const after = yield* resting
          yield* pay({ invoice, amount, feeLimit: Msat.fromSats(10_000) })
          const payment = yield* eventually(
            lookupPayment(invoice.paymentHash),
            ({ _tag }) => _tag === "settled" || _tag === "failed"
          )
          if (payment._tag !== "settled") return assert.fail(payment._tag)
          assert.strictEqual(yield* Peer.received(bob, invoice.paymentHash), amount)
          assert.strictEqual(after - (yield* resting), amount + payment.fee)
        })
    )
  })
})
