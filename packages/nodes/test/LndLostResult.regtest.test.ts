import { assert, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { judge, marginBlocks } from "@satrail/core/sending/LostResult"
import * as Btcd from "@satrail/regtest/Btcd"
import * as Node from "@satrail/regtest/Lnd"
import * as Network from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Process from "@satrail/regtest/Process"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer, Result, Schema, Stream } from "effect"
import { HttpClientRequest } from "effect/http"
import * as Lnd from "../src/Lnd.ts"
import * as LndBooks from "../src/LndBooks.ts"
import * as LndRest from "../src/LndRest.ts"

const network = Layer.provideMerge(Layer.effect(Network.Network, Network.make), Btcd.layer)
const Channels = Schema.Struct({ channels: Schema.Array(Schema.Struct({ channel_point: Schema.String })) })

Real.suite("lnd, payments that settle late", ["btcd", "lnd"], () => {
  it.live(
    "C1: lnd: however high the chain, the result of a payment in an open or closing channel is not lost; the payment then settles",
    () =>
      Effect.gen(function* () {
        const { alice, carol } = yield* Network.Network
        const { url, certificateFile, nodeId } = alice
        const node = { url, certificateFile, identity: { nodeId, network: "regtest" } } as const
        const bake = (calls: ReadonlyArray<{ readonly uri: string }>) =>
          alice.bake(calls.map(({ uri }) => uri))
        const sending = Lnd.layerSender({ ...node, macaroon: yield* bake(Lnd.senderCalls) })
        const reading = LndBooks.layer({ ...node, macaroon: yield* bake(LndBooks.calls) })
        const context = yield* Layer.build(Layer.mergeAll(sending, reading))
        const sender = yield* Effect.provide(LightningSender, context)
        const { inFlight } = yield* Effect.provide(LightningBooks, context)
        if (inFlight === undefined) return assert.fail("lnd can lose results")

        const held = Effect.gen(function* () {
          const amount = Msat.fromSats(50_000)
          const invoice = Result.getOrThrow(
            Bolt11.decode(yield* Peer.invoice(carol, { amount, behaviour: "hold" }))
          )
          yield* sender.pay({ invoice, amount, feeLimit: Msat.fromSats(1000) })
          yield* Peer.arrived(carol, invoice.paymentHash)
          return invoice.paymentHash
        })
        const verdict = Effect.fnUntraced(function* (hash: Bolt11.Bolt11["paymentHash"]) {
          const payment = yield* sender.lookupPayment(hash)
          if (payment._tag !== "pending" || payment.expiryHeight === undefined)
            return assert.fail(JSON.stringify(payment))
          const found = yield* inFlight
          assert.isAbove(payment.expiryHeight, found.height ?? Infinity)
          assert.strictEqual(judge(payment, hash, found), "in_flight")
          return judge(payment, hash, { ...found, height: payment.expiryHeight + marginBlocks })
        })
        const settled = (hash: Bolt11.Bolt11["paymentHash"]) =>
          Process.until(
            "the payment settles",
            Effect.map(sender.lookupPayment(hash), ({ _tag }) => (_tag === "settled" ? true : undefined)),
            60
          )

        const first = yield* held
        assert.strictEqual(yield* verdict(first), "in_channel")
        yield* Peer.release(carol, first, "settle")
        yield* settled(first)
        yield* Process.until(
          "no channel holds it",
          Effect.map(inFlight, ({ hashes }) => (hashes.has(first) ? undefined : true))
        )

        const second = yield* held
        const { channels } = yield* Node.ask(alice, LndRest.get("/v1/channels"), Channels)
        const [point = ""] = channels.map(({ channel_point }) => channel_point)
        const close = HttpClientRequest.delete(`/v1/channels/${point.replace(":", "/")}`, {
          urlParams: { force: "true" }
        })
        yield* Stream.runHead(alice.rest.listen("close", close, Schema.Unknown))
        yield* Process.until(
          "the channel closes",
          Effect.map(inFlight, ({ isClosing }) => (isClosing ? true : undefined))
        )
        assert.strictEqual(yield* verdict(second), "channel_closing")
        yield* Network.mine(1, [alice, carol])
        assert.strictEqual(yield* verdict(second), "channel_closing")
        yield* Peer.release(carol, second, "settle")
        // bob claims the HTLC on-chain with the preimage.
        yield* Process.until(
          "the payment settles",
          Effect.gen(function* () {
            yield* Network.mine(1, [alice])
            return (yield* sender.lookupPayment(second))._tag === "settled" ? true : undefined
          }),
          60
        )
      }).pipe(Effect.scoped, Effect.provide(network))
  )
})
