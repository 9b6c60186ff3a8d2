import * as LightningReceiver from "@satrail/contracts/LightningReceiver"
import * as LightningSender from "@satrail/contracts/LightningSender"
import * as LdkNetwork from "@satrail/regtest/LdkNetwork"
import * as Real from "@satrail/regtest/Real"
import { type Context, Effect, Exit, Layer, Redacted, References, Scope } from "effect"
import { afterAll } from "vitest"
import * as Ldk from "../src/Ldk.ts"
import * as Marks from "./Marks.ts"
import * as NwcWalletOver from "./NwcWalletOver.ts"
import * as Peers from "./Peers.ts"

const scope = Scope.makeUnsafe()
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
let built: Promise<Context.Context<Layer.Success<typeof LdkNetwork.layer>>> | undefined
/** One network for all suites of this file. */
const network = Layer.effectContext(Effect.promise(() => (built ??= Effect.runPromise(Layer.buildWithScope(LdkNetwork.layer, scope)))))

/** The wallet's node is dora; carol is the other side of it, with bob, who charges, in between. */
const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { dora } = yield* LdkNetwork.LdkNetwork
    const node = yield* Layer.build(
      Ldk.layer({
        socket: dora.socket,
        identity: { nodeId: dora.nodeId, network: "regtest" },
        marks: Marks.inMemory(),
        invoiceSecret: Redacted.make("of the tests")
      })
    )
    const { layer, wire } = yield* Effect.provideContext(NwcWalletOver.make, node)
    return Layer.mergeAll(layer, Peers.receiver, Peers.sender(wire))
  })
).pipe(Layer.provideMerge(network), Layer.merge(Layer.succeed(References.MinimumLogLevel, "Error")))

Real.suite("wallet over NWC, on LDK", ["bitcoind", "lnd", "ldk"], () => {
  LightningReceiver.suite("wallet over NWC, on LDK", layer)
  LightningSender.suite("wallet over NWC, on LDK", layer, {
    skip: { "there is no quote without a route, nor with a limit below every route": "it tells what a wallet takes, and no routes" }
  })
})
