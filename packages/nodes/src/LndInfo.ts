import type { Network } from "@satrail/bitcoin/Network"
import type { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import * as Versions from "@satrail/core/nodes/Versions"
import { Clock, Effect, Schema } from "effect"
import * as LndRest from "./LndRest.ts"

/** The identity of a node. */
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
  num_inactive_channels: Schema.optionalKey(Schema.Int),
  chains: Schema.Tuple([Schema.Struct({ network: Schema.Literals(["mainnet", "testnet", "testnet4", "signet", "regtest"]) })])
})

const info = (rest: LndRest.LndRest) => rest.ask("identity", LndRest.get("/v1/getinfo"), Info)

/** Reads the node's identity, and warns about a version that should not hold money. */
export const identity = (rest: LndRest.LndRest): Effect.Effect<Identity, NodeUnavailable | LndRest.Refused> =>
  Effect.flatMap(info(rest), ({ identity_pubkey, version = "", chains: [{ network }] }) =>
    Effect.as(Versions.warn("lnd", version), { nodeId: identity_pubkey, network: networks[network] })
  )

/**
 * How long payments wait for channels whose peers have not reconnected. Channels of a permanently lost peer
 * stay inactive.
 */
const reconnectMillis = 15_000

/**
 * Returns whether lnd is ready to send payments. After its start it responds before its channels are active,
 * and a payment that would have used one of them fails permanently ("insufficient balance"). So on first
 * contact and after each outage, lnd is polled until no channel is inactive or the time is over.
 */
export const channelsBack = (rest: LndRest.LndRest): Effect.Effect<boolean, NodeUnavailable | LndRest.Refused> => {
  let settled: number | undefined
  let waiting: { readonly returns: number; readonly sinceMillis: number } | undefined
  return Effect.gen(function* () {
    const returns = rest.returns()
    if (settled === returns) return true
    const nowMillis = yield* Clock.currentTimeMillis
    if (waiting?.returns !== returns) waiting = { returns, sinceMillis: nowMillis }
    const { num_inactive_channels: inactive = 0 } = yield* info(rest)
    const isOver = nowMillis - waiting.sinceMillis >= reconnectMillis
    if (inactive > 0 && !isOver) return false
    if (inactive > 0) yield* Effect.logWarning("lnd: some channels are still inactive; payments continue without them", { inactive })
    settled = returns
    return true
  })
}

/** Returns the block height that the node knows. */
export const height = (rest: LndRest.LndRest): Effect.Effect<number, NodeUnavailable> =>
  rest.ask("getinfo", LndRest.get("/v1/getinfo"), Schema.Struct({ block_height: Schema.Int })).pipe(
    Effect.catchTag("Refused", LndRest.unavailable("getinfo")),
    Effect.map(({ block_height }) => block_height)
  )

/** Fails unless it is the expected node. */
export const confirm = (rest: LndRest.LndRest, { nodeId }: Identity): Effect.Effect<void, NodeUnavailable> =>
  info(rest).pipe(
    Effect.catchTag("Refused", LndRest.unavailable("identity")),
    Effect.flatMap(({ identity_pubkey }) => rest.recognise(identity_pubkey, nodeId))
  )

/**
 * Checks that the responding node is the expected one, until that is confirmed once, because the node may be
 * down when we start.
 */
export const recognise = (rest: LndRest.LndRest, identity: Identity): Effect.Effect<void, NodeUnavailable> => {
  let isRecognised = false
  const once = Effect.tap(confirm(rest, identity), () => Effect.sync(() => (isRecognised = true)))
  return Effect.suspend(() => (isRecognised ? Effect.void : once))
}
