import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { eventually } from "@satrail/contracts/Eventually"
import * as Id from "@satrail/core/base/Id"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import * as Btcd from "@satrail/regtest/Btcd"
import { Chain } from "@satrail/regtest/Chain"
import * as Node from "@satrail/regtest/Lnd"
import * as Network from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Real from "@satrail/regtest/Real"
import { Effect, Exit, Layer, Redacted, Schema } from "effect"
import * as Lnd from "../src/Lnd.ts"
import * as LndRest from "../src/LndRest.ts"
import { takenBack } from "./TakenBack.ts"

const network = Layer.provideMerge(Layer.effect(Network.Network, Network.make), Btcd.layer)
const Address = Schema.Struct({ address: Schema.String })

Real.suite("lnd, after a long stop", ["btcd", "lnd"], () => {
  it.live("lnd: a held payment that the payer took back while the node was down is not settled", () =>
    Effect.gen(function* () {
      const { alice, bob, carol } = yield* Network.Network
      const chain = yield* Chain
      const { url, certificateFile, nodeId } = alice
      const macaroon = yield* alice.bake([...Lnd.receiverCalls, ...Lnd.holdingCalls].map(({ uri }) => uri))
      const options = { url, certificateFile, macaroon, identity: { nodeId, network: "regtest" } } as const
      const context = yield* Layer.build(
        Lnd.layerReceiver({ ...options, invoiceSecret: Redacted.make("of the tests") })
      )
      const { holding, lookupInvoice } = yield* Effect.provide(LightningReceiver, context)
      if (holding === undefined) return assert.fail("it holds")
      const { address } = yield* Node.ask(bob, LndRest.get("/v1/newaddress"), Address)
      yield* chain.send(address, 10_000_000n)
      yield* Network.mine(6, [alice, bob, carol])
      const description = { _tag: "Text", text: "a car" } as const
      const ask = { id: yield* Id.make, amount: Msat.fromSats(100_000), description, expirySeconds: 1800 }
      const { paymentHash, paymentRequest } = yield* holding.createInvoice(ask)
      const payer = yield* Effect.forkChild(Effect.exit(Peer.pay(carol, paymentRequest)))
      yield* eventually(lookupInvoice(paymentHash), ({ _tag }) => _tag === "accepted")
      yield* alice.stop("SIGKILL")
      const paid = yield* takenBack(payer)
      assert.strictEqual(paid._tag, "Failure")
      // lnd returns the payment a moment after it responds.
      yield* Effect.forkChild(alice.start)
      const settled = yield* eventually(
        Effect.exit(holding.settle({ id: ask.id, paymentHash }, null)),
        Exit.isSuccess
      )
      assert.deepStrictEqual(settled, Exit.succeed("canceled"))
      assert.strictEqual((yield* lookupInvoice(paymentHash))._tag, "canceled")
    }).pipe(Effect.scoped, Effect.provide(network))
  )
})
