import { assert, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import * as Btcd from "@satrail/regtest/Btcd"
import * as Network from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Process from "@satrail/regtest/Process"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer, Redacted, Result, Stream } from "effect"
import { rmSync } from "node:fs"
import path from "node:path"
import * as Lnd from "../src/Lnd.ts"
import * as LndBooks from "../src/LndBooks.ts"

const network = Layer.provideMerge(Layer.effect(Network.Network, Network.make), Btcd.layer)

Real.suite("an lnd node that lost its database", ["btcd", "lnd"], () => {
  it.live(
    "lnd: after a loss of its channels and payments, lnd has the same key, no record of a payment that it settled, and its new receipts are reported",
    () =>
      Effect.gen(function* () {
        const { alice, carol } = yield* Network.Network
        const { url, certificateFile, nodeId } = alice
        const macaroon = yield* alice.bake(
          [...Lnd.senderCalls, ...Lnd.receiverCalls, ...LndBooks.calls].map(({ uri }) => uri)
        )
        const options = { url, certificateFile, macaroon, identity: { nodeId, network: "regtest" } } as const
        const context = yield* Layer.build(
          Layer.mergeAll(
            Lnd.layerSender(options),
            Lnd.layerReceiver({ ...options, invoiceSecret: Redacted.make("of the tests") }),
            LndBooks.layer(options)
          )
        )
        const { lookupPayment } = yield* Effect.provide(LightningSender, context)
        const invoice = yield* Peer.invoice(carol, { amount: Msat.fromSats(1000), behaviour: "settle" })
        yield* Process.until("alice can pay", Effect.as(Peer.pay(alice, invoice), true), 60)
        const { paymentHash } = Result.getOrThrow(Bolt11.decode(invoice))
        assert.strictEqual((yield* lookupPayment(paymentHash))._tag, "settled")

        const receiver = yield* Effect.provide(LightningReceiver, context)
        let made = 0
        const paid = Effect.gen(function* () {
          const description = { _tag: "Text", text: "" } as const
          const ask = {
            id: `invoice ${made++}`,
            amount: Msat.fromSats(1000),
            description,
            expirySeconds: 3600
          }
          const { paymentHash, paymentRequest } = yield* receiver.createInvoice(ask)
          yield* Process.until("carol can pay", Effect.as(Peer.pay(carol, paymentRequest), true), 60)
          return paymentHash
        })
        yield* paid
        yield* paid
        const [, { cursor } = { cursor: "" }] = yield* Stream.runCollect(
          Stream.take(receiver.settlements(null), 2)
        )
        const { taken } = yield* Effect.provide(LightningBooks, context)
        const listed = yield* taken(null)

        yield* alice.stop("SIGTERM")
        // The wallet with the node's key is in another folder.
        rmSync(path.join(alice.folder, "data/graph"), { recursive: true })
        yield* alice.start
        const found = yield* Process.until(
          "lnd responds",
          Effect.map(lookupPayment(paymentHash), (found) => (found._tag === "unknown" ? undefined : found))
        )
        assert.deepStrictEqual<unknown>(found, { _tag: "notFound" })

        // lnd numbers its settled invoices from 1 again.
        yield* Network.open(carol, alice)
        yield* Network.mine(6, [alice, carol])
        yield* Network.active(alice, 1)
        const after = yield* paid
        const [first] = yield* Stream.runCollect(Stream.take(receiver.settlements(cursor), 1))
        assert.deepStrictEqual([cursor, first?.cursor, first?.paymentHash], ["2", "1", after])
        // As many have settled as before, so the number of the last receipt is the same.
        const next = yield* paid
        const again = yield* taken(listed.cursor)
        const { lines } = yield* taken(again.cursor)
        assert.deepStrictEqual(
          [again.lines, lines.map(({ paymentHash }) => paymentHash)],
          [[], [after, next]]
        )
      }).pipe(Effect.scoped, Effect.provide(network))
  )
})
