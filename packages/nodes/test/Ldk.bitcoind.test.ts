import * as LightningBooks from "@satrail/contracts/nodes/LightningBooks"
import * as LightningReceiver from "@satrail/contracts/nodes/LightningReceiver"
import * as LightningSender from "@satrail/contracts/nodes/LightningSender"
import * as LightningWire from "@satrail/contracts/nodes/LightningWire"
import * as SocketWire from "@satrail/contracts/nodes/SocketWire"
import * as LdkNetwork from "@satrail/regtest/LdkNetwork"
import * as Real from "@satrail/regtest/Real"
import * as Wire from "@satrail/regtest/Wire"
import { type Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { afterAll } from "vitest"
import * as Ldk from "../src/Ldk.ts"
import * as Marks from "./Marks.ts"
import * as Peers from "./Peers.ts"

const scope = Scope.makeUnsafe()
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
let built: Promise<Context.Context<Layer.Success<typeof LdkNetwork.layer>>> | undefined
/** One network for all suites in this file. */
const network = Layer.effectContext(
  Effect.promise(() => (built ??= Effect.runPromise(Layer.buildWithScope(LdkNetwork.layer, scope))))
)

/** dora's node, behind its own proxy. The peer is carol, who is reached through bob. bob charges fees. */
const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { dora } = yield* LdkNetwork.LdkNetwork
    const wire = yield* Wire.make(dora.socket)
    const adapter = (socket: string, deadlineMillis = 20_000) =>
      Ldk.layer({
        socket,
        deadlineMillis,
        identity: { nodeId: dora.nodeId, network: "regtest" },
        marks: Marks.inMemory(),
        invoiceSecret: Redacted.make("of the tests")
      })
    return Layer.mergeAll(
      adapter(wire.socket),
      Layer.succeed(LightningWire.Target, { url: dora.socket, wire: SocketWire.make, adapter }),
      Peers.receiver,
      Peers.sender(wire)
    )
  })
).pipe(Layer.provideMerge(network))

Real.suite("ldk", ["bitcoind", "lnd", "ldk"], () => {
  LightningReceiver.suite("ldk", layer)
  LightningSender.suite("ldk", layer)
  LightningBooks.suite("ldk", layer)
  LightningWire.suite("ldk", layer)
})
