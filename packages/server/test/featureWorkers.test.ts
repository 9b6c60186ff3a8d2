import { assert, it } from "@effect/vitest"
import * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import { eventually } from "@satrail/contracts/Eventually"
import * as Memory from "@satrail/service/memory/Memory"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import * as SimulatedRelays from "@satrail/sandbox/SimulatedRelays"
import { Effect, Layer } from "effect"
import * as LocalRelay from "../../web/test/LocalRelay.ts"
import * as Environment from "../src/deployment/Environment.ts"
import * as Server from "../src/serving/Server.ts"

const outside = Layer.mergeAll(
  Sandbox.layer({ seed: "workers", network: "regtest" }),
  SimulatedRelays.layer,
  FixedRates.layer()
)

it.live("wallet connect: the server's workers listen on every configured relay", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const relays = [yield* LocalRelay.make, yield* LocalRelay.make]
      const environment = yield* Effect.fromResult(
        Environment.read({
          SATRAIL_NWC_RELAYS: relays.map((_, at) => `wss://relay${at}.example`).join(","),
          SATRAIL_OUTBOUND_ALLOW: relays
            .map(({ port }, at) => `relay${at}.example=http://127.0.0.1:${port}`)
            .join(",")
        })
      )
      yield* Layer.build(
        Layer.provide(Server.workers(environment), Server.servicesOver(environment, outside, Memory.layer))
      )
      const listening = Effect.sync(() =>
        relays.map(({ listeners }) => listeners(WalletConnect.kinds.request))
      )
      assert.deepStrictEqual(yield* eventually(listening, (all) => all.every((count) => count > 0)), [1, 1])
    })
  )
)
