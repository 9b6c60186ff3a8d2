import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import type { Msat } from "@satrail/bitcoin/Msat"
import { Context, Effect, Layer, Result, Schema } from "effect"
import { randomBytes, randomUUID } from "node:crypto"
import * as Interceptor from "./Interceptor.ts"
import type * as Ldk from "./Ldk.ts"
import * as LdkNetwork from "./LdkNetwork.ts"
import * as Network from "./Network.ts"
import * as Process from "./Process.ts"

/**
 * erin, an LDK node that issues offers. She has a channel to bob, through whom dora pays her. bob's interceptor
 * decides whether a payment is forwarded, failed or held.
 */
export class LdkIssuer extends Context.Service<
  LdkIssuer,
  {
    readonly erin: Ldk.Ldk
    readonly bob: Interceptor.Interceptor
    /** Makes erin issue an offer, for which she then accepts payments. */
    readonly offer: (amount?: Msat) => Effect.Effect<string, Process.RegtestFailed>
    /** Forges an offer with erin's node id. She did not issue it, so she doesn't respond to invoice requests for it. */
    readonly forged: Effect.Effect<string>
    /** Returns the amount received for an offer. */
    readonly received: (offer: string) => Effect.Effect<bigint, Process.RegtestFailed>
  }
>()("@satrail/regtest/LdkIssuer") {}

const Made = Schema.Struct({ offer: Schema.String })
const Settlements = Schema.Struct({
  lines: Schema.Array(Schema.Struct({ offer: Schema.String, received: Schema.BigIntFromString }))
})

/** Returns an offer that contains a node's id although that node did not issue it. */
export const strange = (issuerId: string, amount?: Msat): string =>
  Result.getOrThrow(
    Bolt12.encode({
      networks: ["regtest"],
      description: "Nobody's",
      metadata: randomBytes(16).toString("hex"),
      issuerId,
      ...(amount !== undefined && { amount })
    })
  )

const make = Effect.gen(function* () {
  const { bob } = yield* Network.Network
  const { dora } = yield* LdkNetwork.LdkNetwork
  const erin = yield* LdkNetwork.started("erin")
  yield* LdkNetwork.open(erin, bob)
  for (const node of [dora, erin]) {
    yield* Process.until(
      `${node.name} knows 4 channels`,
      Effect.map(node.ask("channels", {}, LdkNetwork.Channels), ({ graph }) =>
        graph >= 4 ? true : undefined
      )
    )
  }
  const ids = new Map<string, string>()
  return LdkIssuer.of({
    erin,
    bob: yield* Interceptor.make(bob),
    offer: Effect.fnUntraced(function* (amount) {
      const id = randomUUID()
      const params = { id, description: "coffee", amount: amount === undefined ? null : String(amount) }
      const { offer } = yield* erin.ask("createOffer", params, Made)
      ids.set(offer, id)
      return offer
    }),
    forged: Effect.sync(() => strange(erin.nodeId)),
    received: (offer) =>
      Effect.map(erin.ask("settlements", { after: "0" }, Settlements), ({ lines }) =>
        lines
          .filter((line) => line.offer !== "" && line.offer === ids.get(offer))
          .reduce((sum, { received }) => sum + received, 0n)
      )
  })
})

/** A network of bitcoind, three lnd nodes, dora and erin. */
export const layer = Layer.provideMerge(Layer.effect(LdkIssuer, make), LdkNetwork.layer)
