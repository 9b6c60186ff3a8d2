import * as ReceiverContract from "@satrail/contracts/LightningReceiver"
import * as SenderContract from "@satrail/contracts/LightningSender"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect, Layer, References } from "effect"
import * as SandboxPeers from "../../sandbox/test/Peers.ts"
import * as NwcWalletOver from "./NwcWalletOver.ts"

// The wallet's node is the sandbox. With a real one behind the same wallet: Nwc.bitcoind.test.ts.

const sandbox = Layer.provideMerge(SandboxPeers.layer, Sandbox.layer({ seed: "nwc", network: "regtest" }))

/** Our adapter in the place of the node; what the wire between the two does to it is the wire to the relay. */
const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { layer, wire } = yield* NwcWalletOver.make
    const peers = Layer.merge(
      Layer.effect(ReceiverContract.Peer, ReceiverContract.Peer),
      Layer.effect(
        SenderContract.Peer,
        Effect.map(SenderContract.Peer, (peer) => ({ ...peer, cut: wire.cut, mend: wire.mend }))
      )
    )
    return Layer.merge(layer, peers)
  })
).pipe(Layer.provide(sandbox), Layer.merge(Layer.succeed(References.MinimumLogLevel, "Error")))

ReceiverContract.suite("wallet over NWC", layer)
SenderContract.suite("wallet over NWC", layer, {
  skip: { "there is no quote without a route, nor with a limit below every route": "it tells what a wallet takes, and no routes" }
})
