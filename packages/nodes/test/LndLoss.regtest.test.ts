import { assert, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import * as Btcd from "@satrail/regtest/Btcd"
import * as Network from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Process from "@satrail/regtest/Process"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer, Result } from "effect"
import { rmSync } from "node:fs"
import path from "node:path"
import * as Lnd from "../src/Lnd.ts"

const network = Layer.provideMerge(Layer.effect(Network.Network, Network.make), Btcd.layer)

Real.suite("an lnd node that lost its database", ["btcd", "lnd"], () => {
  it.live("lnd: after a loss of its channels and payments, lnd has the same key, and no record of a payment that it settled", () =>
    Effect.gen(function* () {
      const { alice, carol } = yield* Network.Network
      const { url, certificateFile, nodeId } = alice
      const macaroon = yield* alice.bake(Lnd.senderCalls.map(({ uri }) => uri))
      const context = yield* Layer.build(Lnd.layerSender({ url, certificateFile, macaroon, identity: { nodeId, network: "regtest" } }))
      const { lookupPayment } = yield* Effect.provide(LightningSender, context)
      const invoice = yield* Peer.invoice(carol, { amount: Msat.fromSats(1000), behaviour: "settle" })
      yield* Process.until("alice can pay", Effect.as(Peer.pay(alice, invoice), true), 60)
      const { paymentHash } = Result.getOrThrow(Bolt11.decode(invoice))
      assert.strictEqual((yield* lookupPayment(paymentHash))._tag, "settled")

      yield* alice.stop("SIGTERM")
      // The wallet with the node's key is in another folder.
      rmSync(path.join(alice.folder, "data/graph"), { recursive: true })
      yield* alice.start
      const found = yield* Process.until(
        "lnd responds",
        Effect.map(lookupPayment(paymentHash), (found) => (found._tag === "unknown" ? undefined : found))
      )
      assert.deepStrictEqual<unknown>(found, { _tag: "notFound" })
    }).pipe(Effect.scoped, Effect.provide(network))
  )
})
