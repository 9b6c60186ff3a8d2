import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { eventually } from "@satrail/contracts/Eventually"
import * as Id from "@satrail/core/base/Id"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { Chain } from "@satrail/regtest/Chain"
import * as LdkNetwork from "@satrail/regtest/LdkNetwork"
import * as Lnd from "@satrail/regtest/Lnd"
import { Network } from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Process from "@satrail/regtest/Process"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer, Schema } from "effect"
import * as LndRest from "../src/LndRest.ts"
import { adapter, usable } from "./LdkReturns.ts"

// dora is down until a payment that she held has timed out on the chain. Bob, who forwarded it, needs coins to
// pay for taking it back.

const layer = Layer.provideMerge(adapter, LdkNetwork.layer)
const Address = Schema.Struct({ address: Schema.String })

Real.suite("ldk, after a long stop", ["bitcoind", "lnd", "ldk"], () => {
  it.layer(layer, { excludeTestServices: true })((it) => {
    it.effect("ldk: a held payment that the payer took back while the node was down is not settled", () =>
      Effect.gen(function* () {
        const { dora } = yield* LdkNetwork.LdkNetwork
        const { bob, carol } = yield* Network
        const chain = yield* Chain
        const { holding, lookupInvoice } = yield* LightningReceiver
        if (holding === undefined) return assert.fail("it holds")
        yield* usable
        const { address } = yield* Lnd.ask(bob, LndRest.get("/v1/newaddress"), Address)
        yield* chain.send(address, 10_000_000n)
        yield* LdkNetwork.mine(6, [dora])
        const description = { _tag: "Text", text: "a car" } as const
        const ask = { id: yield* Id.make, amount: Msat.fromSats(100_000), description, expirySeconds: 1800 }
        const { paymentHash, paymentRequest } = yield* holding.createInvoice(ask)
        const payer = yield* Effect.forkChild(Effect.exit(Peer.pay(carol, paymentRequest)))
        yield* eventually(lookupInvoice(paymentHash), ({ _tag }) => _tag === "accepted")
        yield* Effect.sleep("1 second") // LDK writes its channel manager
        yield* dora.stop("SIGKILL")
        yield* chain.mine(180)
        const isOver = Effect.gen(function* () {
          yield* chain.mine(1)
          yield* Effect.sleep("500 millis")
          return payer.pollUnsafe()
        })
        const paid = yield* Effect.flatten(Process.until("the payer takes back the payment", isOver, 120))
        assert.strictEqual(paid._tag, "Failure")
        yield* dora.start()
        assert.strictEqual(yield* holding.settle({ id: ask.id, paymentHash }, null), "canceled")
        assert.strictEqual((yield* lookupInvoice(paymentHash))._tag, "canceled")
      })
    )
  })
})
