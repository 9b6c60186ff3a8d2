import * as LightningBooks from "@satrail/contracts/LightningBooks"
import * as LightningReceiver from "@satrail/contracts/LightningReceiver"
import * as LightningSender from "@satrail/contracts/LightningSender"
import * as LdkNetwork from "@satrail/regtest/LdkNetwork"
import * as Real from "@satrail/regtest/Real"
import * as Wire from "@satrail/regtest/Wire"
import { Effect, Layer, Redacted } from "effect"
import * as Ldk from "../src/Ldk.ts"
import * as Marks from "./Marks.ts"
import * as Peers from "./Peers.ts"

/** dora behind a wire of her own; carol is the other side of it, with bob, who charges, in between. */
const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { dora } = yield* LdkNetwork.LdkNetwork
    const wire = yield* Wire.make(dora.socket)
    return Layer.mergeAll(
      Ldk.layer({
        socket: wire.socket,
        identity: { nodeId: dora.nodeId, network: "regtest" },
        marks: Marks.inMemory(),
        invoiceSecret: Redacted.make("of the tests")
      }),
      Peers.receiver,
      Peers.sender(wire)
    )
  })
).pipe(Layer.provideMerge(LdkNetwork.layer))

Real.suite("ldk", ["bitcoind", "lnd", "ldk"], () => {
  LightningReceiver.suite("ldk", layer)
  LightningSender.suite("ldk", layer)
  LightningBooks.suite("ldk", layer)
})
