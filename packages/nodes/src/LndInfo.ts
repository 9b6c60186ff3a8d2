import type { Network } from "@satrail/bitcoin/Network"
import type { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import * as Versions from "@satrail/core/nodes/Versions"
import { Clock, Effect, Schema } from "effect"
import * as LndRest from "./LndRest.ts"

/** The identity of a node. */
export interface Identity {
  /** The node's public key, 33 bytes in hex. */
  readonly nodeId: string
  readonly network: Network
}

/** testnet4 uses testnet's address and invoice formats. */
const networks = {
  mainnet: "mainnet",
  testnet: "testnet",
  testnet4: "testnet",
  signet: "signet",
  regtest: "regtest"
} as const

const Info = Schema.Struct({
  identity_pubkey: Schema.String,
  version: Schema.optionalKey(Schema.String),
  num_inactive_channels: Schema.optionalKey(Schema.Int),
  chains: Schema.Tuple([
    Schema.Struct({ network: Schema.Literals(["mainnet", "testnet", "testnet4", "signet", "regtest"]) })
  ])
})

const info = (rest: LndRest.LndRest) => rest.ask("identity", LndRest.get("/v1/getinfo"), Info)

/** Reads the node's identity, and logs a warning if its version should not hold money. */
export const identity = (rest: LndRest.LndRest): Effect.Effect<Identity, NodeUnavailable | LndRest.Refused> =>
  Effect.flatMap(info(rest), ({ identity_pubkey, version = "", chains: [{ network }] }) =>
    Effect.as(Versions.warn("lnd", version), { nodeId: identity_pubkey, network: networks[network] })
  )

/**
 * How long payments wait for inactive channels whose peers have not reconnected. The wait is limited because
 * channels with a permanently lost peer never become active.
 */
const reconnectMillis = 15_000

/**
 * Returns whether lnd is ready to send payments. After a start, lnd responds before its channels are active,
 * and a payment that needs one of them fails for good ("insufficient balance"). So on first contact and after
 * each outage, payments wait until no channel is inactive or `reconnectMillis` have passed.
 */
export const channelsBack = (
  rest: LndRest.LndRest
): Effect.Effect<boolean, NodeUnavailable | LndRest.Refused> => {
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
    if (inactive > 0)
      yield* Effect.logWarning("lnd: some channels are still inactive; payments continue without them", {
        inactive
      })
    settled = returns
    return true
  })
}

const Chain = Schema.Struct({ block_height: Schema.Int, synced_to_chain: Schema.Boolean })

/** Returns the node's block height, and whether it has the newest blocks. */
export const chain = (
  rest: LndRest.LndRest
): Effect.Effect<{ readonly height: number; readonly isSynced: boolean }, NodeUnavailable> =>
  rest.ask("getinfo", LndRest.get("/v1/getinfo"), Chain).pipe(
    Effect.catchTag("Refused", LndRest.unavailable("getinfo")),
    Effect.map(({ block_height, synced_to_chain }) => ({ height: block_height, isSynced: synced_to_chain }))
  )

/** Fails unless the responding node is the expected one. */
export const confirm = (rest: LndRest.LndRest, { nodeId }: Identity): Effect.Effect<void, NodeUnavailable> =>
  info(rest).pipe(
    Effect.catchTag("Refused", LndRest.unavailable("identity")),
    Effect.flatMap(({ identity_pubkey }) => rest.recognise(identity_pubkey, nodeId))
  )

/**
 * Returns a check that the responding node is the expected one. It stops checking after the first success. The
 * check isn't done at startup, because the node may be down then.
 */
export const recognise = (
  rest: LndRest.LndRest,
  identity: Identity
): Effect.Effect<void, NodeUnavailable> => {
  let isRecognised = false
  const once = Effect.tap(confirm(rest, identity), () => Effect.sync(() => (isRecognised = true)))
  return Effect.suspend(() => (isRecognised ? Effect.void : once))
}
