import type { Network } from "@satrail/bitcoin/Network"
import type { ChainUnavailable, Tip } from "@satrail/core/nodes/ChainSource"
import { Effect, Result, Schema } from "effect"
import * as Connection from "./BitcoinRpcConnection.ts"
import { away, Outage } from "./Outage.ts"

/** A node, and the network that it has to be on. */
export interface Options extends Connection.Options {
  readonly network: Network
}

/** The node cannot be what this service runs on, whatever happens next. A person has to change something. */
export class NodeUnusable extends Schema.TaggedError<NodeUnusable>()("NodeUnusable", { reason: Schema.String }) {
  override get message(): string {
    return `The bitcoin node cannot be used: ${this.reason}`
  }
}

const Info = Schema.Struct({
  chain: Schema.String,
  blocks: Schema.Int,
  headers: Schema.Int,
  bestblockhash: Schema.String,
  initialblockdownload: Schema.optionalKey(Schema.Boolean)
})
const IndexInfo = Schema.Struct({
  txindex: Schema.optionalKey(Schema.Struct({ synced: Schema.Boolean, best_block_height: Schema.Int }))
})

/** What Core and btcd call each network. */
const chainNames: { readonly [network in Network]: ReadonlyArray<string> } = {
  mainnet: ["main", "mainnet"],
  testnet: ["test", "testnet3", "testnet4"],
  signet: ["signet"],
  regtest: ["regtest"]
}

/** How far a node may be behind its peers, and its index behind it: a block takes a moment to be checked, and another to be indexed. */
const maxBlocksBehind = 2

/** How far a node's index of transactions is. */
export interface Index {
  /** Whether it has once reached the tip. */
  readonly isSynced: boolean
  readonly height: number
}

/** Where a node stands. */
export interface Standing {
  readonly tip: Tip
  /** Undefined where the node does not say: btcd, whose index is written with each block, and Core before 0.21. */
  readonly index: Index | undefined
}

/** That its index is not where its chain is. */
export const indexing = ({ tip, index }: Standing): Outage =>
  new Outage(`indexing: block ${index?.height ?? 0} of ${tip.height}`, Connection.waiting)

/** Why what a node that stands there knows of transactions does not count; undefined where it does. */
export const lagging = (standing: Standing): Outage | undefined => {
  const { tip, index } = standing
  return index !== undefined && (!index.isSynced || tip.height - index.height > maxBlocksBehind) ? indexing(standing) : undefined
}

/** Asks a node where it stands. Fails while it has not caught up with its network; how far its index is does not matter. */
export const stand = ({ ask, call }: Connection.Connection, network: Network): Effect.Effect<Standing, ChainUnavailable> =>
  Effect.gen(function* () {
    const { chain, blocks, headers, bestblockhash, initialblockdownload = false } = yield* ask("getblockchaininfo", [], Info)
    if (!chainNames[network].includes(chain))
      return yield* away("tip")(
        new Outage(`the node is on ${chain}, and this service on ${network}`, "Check BITCOIN_RPC_URL and SATRAIL_NETWORK.")
      )
    // A chain of one's own stands still for days and has still caught up.
    if (headers - blocks > maxBlocksBehind || (initialblockdownload && network !== "regtest")) {
      return yield* away("tip")(new Outage(`the node is catching up: it has ${blocks} of ${headers} blocks`, Connection.waiting))
    }
    const tip = { height: blocks, hash: bestblockhash }
    const told = yield* Effect.result(call("getindexinfo", ["txindex"], IndexInfo))
    if (Result.isFailure(told)) {
      if (!(told.failure instanceof Connection.RpcRefused)) return yield* told.failure
      return told.failure.code === Connection.codes.noMethod
        ? { tip, index: undefined }
        : yield* away("tip")(Connection.reasonOf(told.failure))
    }
    const { txindex } = told.success
    if (txindex === undefined) return yield* away("tip")(Connection.withoutIndex)
    return { tip, index: { isSynced: txindex.synced, height: txindex.best_block_height } }
  })

/** Where a node stands, for who looks at it before the service starts. Fails with a reason where it cannot be used now, but for an index that is behind. */
export const standing = (options: Options): Effect.Effect<Standing, ChainUnavailable> => stand(Connection.connect(options), options.network)

/**
 * Looks whether this node can be the one: it lets us in, is on our network and keeps an index of transactions. Fails where it never can be; where it
 * cannot be reached now, has not caught up or is still indexing, it may be later.
 */
export const check = (options: Options): Effect.Effect<void, NodeUnusable> =>
  Effect.gen(function* () {
    const connection = Connection.connect(options)
    const { ask, call } = connection
    const { chain, blocks } = yield* ask("getblockchaininfo", [], Info)
    if (!chainNames[options.network].includes(chain)) {
      return yield* new NodeUnusable({ reason: `it is on ${chain}, and this service on ${options.network} (SATRAIL_NETWORK)` })
    }
    const standing = yield* stand(connection, options.network)
    if (standing.index?.isSynced === false)
      return yield* Effect.logWarning("bitcoin node: not ready", { reason: indexing(standing).message })
    if (standing.index !== undefined || blocks < 1) return
    // One that does not say has to know a transaction that every node of the network has.
    const hash = yield* ask("getblockhash", [1], Schema.String)
    const { tx } = yield* ask("getblock", [hash, 1], Schema.Struct({ tx: Schema.Array(Schema.String) }))
    yield* Effect.catchTag(call("getrawtransaction", [tx[0] ?? "", 0], Schema.String), "RpcRefused", (refusal) =>
      Connection.lacksIndex(refusal.message)
        ? Effect.fail(new NodeUnusable({ reason: Connection.withoutIndex.sentence }))
        : Effect.logWarning("bitcoin node: not ready", { reason: Connection.reasonOf(refusal).message })
    )
  }).pipe(
    Effect.catchTag("ChainUnavailable", ({ cause }) => {
      const reason = cause instanceof Outage ? cause.sentence : String(cause)
      return /refuses our user|no JSON-RPC|keeps no index/.test(reason)
        ? Effect.fail(new NodeUnusable({ reason }))
        : Effect.logWarning("bitcoin node: no response yet", { reason })
    })
  )
