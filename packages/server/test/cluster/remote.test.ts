import * as ChainSource from "@satrail/contracts/nodes/ChainSource"
import * as ChainWallet from "@satrail/contracts/nodes/ChainWallet"
import * as LightningBooks from "@satrail/contracts/nodes/LightningBooks"
import * as LightningReceiver from "@satrail/contracts/nodes/LightningReceiver"
import * as LightningSender from "@satrail/contracts/nodes/LightningSender"
import * as Resolver from "@satrail/contracts/nodes/Resolver"
import * as Signer from "@satrail/contracts/nodes/Signer"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect, Layer } from "effect"
import * as Peers from "../../../sandbox/test/Peers.ts"
import * as Remote from "./Remote.ts"
import * as Served from "./Served.ts"

const sandbox = Sandbox.layer({ seed: "contracts", network: "regtest" })

const overLoopback = Layer.unwrap(
  Effect.gen(function* () {
    const port = yield* Served.serve(yield* Effect.context<Served.Ports>())
    return Remote.layer(`http://127.0.0.1:${port}`)
  })
)

// The contract's other side calls the network directly. Only our side calls it remotely.
const network = Peers.layer.pipe(
  Layer.provideMerge(Layer.effect(Sandbox.Sandbox, Sandbox.Sandbox).pipe(Layer.provide(sandbox))),
  Layer.provideMerge(Layer.provide(overLoopback, sandbox))
)

LightningReceiver.suite("the network over loopback", network)
LightningSender.suite("the network over loopback", network)
LightningBooks.suite("the network over loopback", network)
ChainSource.suite("the network over loopback", network)
ChainWallet.suite("the network over loopback", network)
Signer.suite("the network over loopback", network)
Resolver.suite("the network over loopback", network)
