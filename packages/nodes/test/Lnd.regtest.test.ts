import * as LightningBooks from "@satrail/contracts/nodes/LightningBooks"
import * as LightningReceiver from "@satrail/contracts/nodes/LightningReceiver"
import * as LightningSender from "@satrail/contracts/nodes/LightningSender"
import * as LightningWire from "@satrail/contracts/nodes/LightningWire"
import { Network } from "@satrail/regtest/Network"
import * as Proxy from "@satrail/regtest/Proxy"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer, Redacted, References } from "effect"
import * as Lnd from "../src/Lnd.ts"
import * as LndBooks from "../src/LndBooks.ts"
import * as Peers from "./Peers.ts"

const uris = (calls: ReadonlyArray<{ readonly uri: string }>) => calls.map(({ uri }) => uri)

/** alice's node behind a proxy, with macaroons that allow only the required calls. */
const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { alice } = yield* Network
    const proxy = yield* Proxy.make(alice)
    const identity = { nodeId: alice.nodeId, network: "regtest" } as const
    const options = {
      url: proxy.url,
      certificateFile: alice.certificateFile,
      identity,
      deadlineMillis: 20_000
    }
    return Layer.mergeAll(
      Lnd.layerReceiver({
        ...options,
        macaroon: yield* alice.bake(uris([...Lnd.receiverCalls, ...Lnd.holdingCalls])),
        invoiceSecret: Redacted.make("of the tests")
      }),
      Lnd.layerSender({ ...options, macaroon: yield* alice.bake(uris(Lnd.senderCalls)) }),
      LndBooks.layer({ ...options, macaroon: yield* alice.bake(uris(LndBooks.calls)) }),
      Peers.receiver,
      Peers.sender(proxy)
    )
  })
).pipe(Layer.provideMerge(Real.network))

/** alice's address, and an adapter for any other address, for tests in which another server responds there. */
const wire = Layer.effect(
  LightningWire.Target,
  Effect.gen(function* () {
    const { alice } = yield* Network
    const identity = { nodeId: alice.nodeId, network: "regtest" } as const
    const [receiving, sending] = [
      yield* alice.bake(uris(Lnd.receiverCalls)),
      yield* alice.bake(uris(Lnd.senderCalls))
    ]
    return {
      url: alice.url,
      adapter: (url, deadlineMillis) => {
        const options = { url, identity, deadlineMillis }
        return Layer.merge(
          Lnd.layerReceiver({
            ...options,
            macaroon: receiving,
            invoiceSecret: Redacted.make("of the tests")
          }),
          Lnd.layerSender({ ...options, macaroon: sending })
        )
      }
    }
  })
).pipe(
  Layer.merge(
    Layer.unwrap(
      Effect.map(
        Effect.flatMap(Network, ({ alice }) => Proxy.make(alice)),
        Peers.sender
      )
    )
  ),
  Layer.provideMerge(Real.network),
  Layer.merge(Layer.succeed(References.MinimumLogLevel, "None"))
)

Real.suite("lnd", ["btcd", "lnd"], () => {
  LightningReceiver.suite("lnd", layer)
  LightningSender.suite("lnd", layer)
  LightningBooks.suite("lnd", layer)
  LightningWire.suite("lnd", wire)
})
