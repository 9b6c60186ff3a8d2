import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { eventually } from "@satrail/contracts/Eventually"
import * as Id from "@satrail/core/base/Id"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Chain } from "@satrail/regtest/Chain"
import * as LdkNetwork from "@satrail/regtest/LdkNetwork"
import * as Lnd from "@satrail/regtest/Lnd"
import { Network } from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Process from "@satrail/regtest/Process"
import * as Real from "@satrail/regtest/Real"
import { Effect, Exit, Layer, Schema } from "effect"
import * as LndRest from "../src/LndRest.ts"
import { adapter, outgoing, usable } from "./LdkReturns.ts"
import { takenBack } from "./TakenBack.ts"

// dora is down for hundreds of blocks, and is called before she has read them.

const layer = Layer.provideMerge(adapter, LdkNetwork.layer)
const Height = Schema.Struct({ block_height: Schema.Int })
const Address = Schema.Struct({ address: Schema.String })

Real.suite("ldk, after a long stop", ["bitcoind", "lnd", "ldk"], () => {
  it.layer(layer, { excludeTestServices: true })((it) => {
    it.effect(
      "ldk: after a long stop, a payment waits until the node has read the chain, and then succeeds",
      () =>
        Effect.gen(function* () {
          const { dora } = yield* LdkNetwork.LdkNetwork
          const { bob, carol } = yield* Network
          const chain = yield* Chain
          const { pay } = yield* LightningSender
          yield* usable
          yield* dora.stop("SIGKILL")
          for (let n = 0; n < 15; n++) yield* chain.mine(100)
          const top = yield* chain.height
          for (const node of [bob, carol]) {
            const height = Lnd.ask(node, LndRest.get("/v1/getinfo"), Height)
            yield* Process.until(
              `${node.name} sees block ${top}`,
              Effect.map(height, (has) => has.block_height >= top || undefined),
              60
            )
          }
          const asked = yield* outgoing("settle")
          yield* dora.start()
          const paid = yield* eventually(pay(asked), ({ _tag }) => _tag === "settled" || _tag === "failed")
          assert.strictEqual(paid._tag, "settled")
        })
    )
    it.effect("ldk: a held payment that the payer took back while the node was down is not settled", () =>
      Effect.gen(function* () {
        const { dora } = yield* LdkNetwork.LdkNetwork
        const { bob, carol } = yield* Network
        const chain = yield* Chain
        const { holding, lookupInvoice } = yield* LightningReceiver
        if (holding === undefined) return assert.fail("it holds")
        yield* usable
        // Bob takes back the payment that he forwarded, and needs coins for the fee.
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
        const paid = yield* takenBack(payer)
        assert.strictEqual(paid._tag, "Failure")
        yield* dora.start()
        const settled = yield* eventually(
          Effect.exit(holding.settle({ id: ask.id, paymentHash }, null)),
          Exit.isSuccess
        )
        assert.deepStrictEqual(settled, Exit.succeed("canceled"))
        assert.strictEqual((yield* lookupInvoice(paymentHash))._tag, "canceled")
      })
    )
  })
})
