import { NodeUnavailable } from "@satrail/core/LightningReceiver"
import type { Network } from "@satrail/core/Network"
import { Effect, Schema } from "effect"
import * as LndRest from "./LndRest.ts"

/** Which node it is. */
export interface Identity {
  /** Its public key, 33 bytes in hex. */
  readonly nodeId: string
  readonly network: Network
}

/** testnet4 has the addresses and invoices of testnet. */
const networks = { mainnet: "mainnet", testnet: "testnet", testnet4: "testnet", signet: "signet", regtest: "regtest" } as const

const Info = Schema.Struct({
  identity_pubkey: Schema.String,
  chains: Schema.Tuple([Schema.Struct({ network: Schema.Literals(["mainnet", "testnet", "testnet4", "signet", "regtest"]) })])
})

/** Asks the node who it is. */
export const identity = (rest: LndRest.LndRest): Effect.Effect<Identity, NodeUnavailable | LndRest.Refused> =>
  Effect.map(rest.ask("identity", LndRest.get("/v1/getinfo"), Info), ({ identity_pubkey, chains: [{ network }] }) => ({
    nodeId: identity_pubkey,
    network: networks[network]
  }))

/** Fails unless it is the node that it was. */
export const confirm = (rest: LndRest.LndRest, { nodeId }: Identity): Effect.Effect<void, NodeUnavailable> =>
  identity(rest).pipe(
    Effect.catchTag("Refused", ({ words }) => Effect.fail(new NodeUnavailable({ operation: "identity", cause: words }))),
    Effect.flatMap((now) =>
      now.nodeId === nodeId
        ? Effect.void
        : Effect.fail(new NodeUnavailable({ operation: "identity", cause: `it is another node: ${now.nodeId}, and was ${nodeId}` }))
    )
  )
