import { it } from "@effect/vitest"
import * as Policy from "@satrail/core/service/Policy"
import * as Satrail from "@satrail/service/core/Satrail"
import * as Memory from "@satrail/service/memory/Memory"
import * as Ldk from "@satrail/nodes/Ldk"
import * as LdkNetwork from "@satrail/regtest/LdkNetwork"
import { Network } from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Real from "@satrail/regtest/Real"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect, Layer, Redacted } from "effect"
import * as Composed from "./Composed.ts"
import * as CoveredCheckout from "./CoveredCheckout.ts"

const settings = { ...Policy.defaults, network: "regtest", domain: "satrail.localhost" } as const

const node = Layer.unwrap(
  Effect.map(LdkNetwork.LdkNetwork, ({ dora }) =>
    Ldk.layer({
      socket: dora.socket,
      identity: { nodeId: dora.nodeId, network: "regtest" },
      marks: { read: Effect.undefined, write: () => Effect.void },
      invoiceSecret: Redacted.make("of the tests")
    })
  )
)

/** The service on the LDK node, with a simulated chain for on-chain payments. */
const service = Layer.provideMerge(Satrail.layerWorkers, Satrail.layer(settings)).pipe(
  Layer.provideMerge(
    Layer.mergeAll(Memory.layer, FixedRates.layer(), node).pipe(
      Layer.provideMerge(Sandbox.layer({ seed: "ldk", network: "regtest" })),
      Layer.provideMerge(LdkNetwork.layer)
    )
  )
)

Real.suite("a checkout on LDK", ["bitcoind", "lnd", "ldk"], () => {
  it.layer(service, { excludeTestServices: true })((it) => {
    it.effect("ldk: once on-chain payments cover a checkout, LDK accepts no payment of its invoices", () =>
      Effect.gen(function* () {
        const { carol } = yield* Network
        yield* CoveredCheckout.covered(yield* Composed.company, (paymentRequest) =>
          Peer.pay(carol, paymentRequest)
        )
      })
    )
  })
})
