import { assert, describe, it } from "@effect/vitest"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Looks, layer } from "@satrail/http/api/Readiness"
import { Effect, Layer } from "effect"
import * as Server from "../src/serving/Server.ts"

describe("Server.readiness", () => {
  it.effect(
    "readiness: a node that accepts only calls to receive, such as lnd with a revoked sender macaroon, fails the check `sender` alone",
    () =>
      Effect.gen(function* () {
        const found = yield* Effect.all([...(yield* Looks).values()])
        assert.deepStrictEqual(
          found.flatMap(({ name, isOptional, reason }) => (reason === undefined ? [] : [[name, isOptional, reason]])),
          [["sender", true, "the node accepts no calls to send payments"]]
        )
      }).pipe(
        Effect.provide(Layer.provide(layer, Server.readiness(Effect.succeed(true)))),
        Effect.provide([
          Layer.mock(AccountReads, { company: () => Effect.succeedNone }),
          Layer.mock(LightningReceiver, { nodeId: "", network: "regtest", lookupInvoice: () => Effect.succeed({ _tag: "unknown" }) }),
          Layer.mock(LightningSender, { graceMillis: 0, lookupPayment: () => Effect.succeed({ _tag: "unknown" }) }),
          Layer.mock(ChainSource, { tip: Effect.succeed({ height: 1, hash: "00" }) })
        ])
      )
  )
})
