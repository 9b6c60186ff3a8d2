import type { Network } from "@satrail/bitcoin/Network"
import { NodeUnavailable } from "@satrail/core/LightningReceiver"
import { Effect, Schema } from "effect"
import * as LndRest from "./LndRest.ts"
import * as Versions from "./Versions.ts"

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
  version: Schema.optionalKey(Schema.String),
  chains: Schema.Tuple([Schema.Struct({ network: Schema.Literals(["mainnet", "testnet", "testnet4", "signet", "regtest"]) })])
})

const info = (rest: LndRest.LndRest) => rest.ask("identity", LndRest.get("/v1/getinfo"), Info)

/** Asks the node who it is, and warns of a version that should not hold money. */
export const identity = (rest: LndRest.LndRest): Effect.Effect<Identity, NodeUnavailable | LndRest.Refused> =>
  Effect.flatMap(info(rest), ({ identity_pubkey, version = "", chains: [{ network }] }) =>
    Effect.as(Versions.warn("lnd", version), { nodeId: identity_pubkey, network: networks[network] })
  )

/** Fails unless it is the node that it was. */
export const confirm = (rest: LndRest.LndRest, { nodeId }: Identity): Effect.Effect<void, NodeUnavailable> =>
  info(rest).pipe(
    Effect.catchTag("Refused", ({ words }) => Effect.fail(new NodeUnavailable({ operation: "identity", cause: words }))),
    Effect.flatMap(({ identity_pubkey }) => rest.recognise(identity_pubkey, nodeId))
  )
