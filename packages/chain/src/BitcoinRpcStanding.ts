import type { Network } from "@satrail/bitcoin/Network"
import * as Behind from "@satrail/core/nodes/Behind"
import type { ChainUnavailable, Tip } from "@satrail/core/nodes/ChainSource"
import { Effect, Result, Schema } from "effect"
import * as Connection from "./BitcoinRpcConnection.ts"
import { current, type LastRead, noneRead } from "./Progress.ts"
import { away, Outage } from "./Outage.ts"

/** The connection options of a node, its required network, and what is known of its chain. */
export interface Options extends Connection.Options {
  readonly network: Network
  /** Height of the last block that the service read. A node without this block is behind. */
  readonly lastRead?: LastRead | undefined
}

/** The service can't use this node until someone changes its configuration or ours. */
export class NodeUnusable extends Schema.TaggedError<NodeUnusable>()("NodeUnusable", {
  reason: Schema.String
}) {
  override get message(): string {
    return `The bitcoin node cannot be used: ${this.reason}`
  }
}

const Info = Schema.Struct({
  chain: Schema.String,
  blocks: Schema.Int,
  headers: Schema.Int,
  bestblockhash: Schema.String,
  initialblockdownload: Schema.optionalKey(Schema.Boolean),
  // Since Core 23.
  time: Schema.optionalKey(Schema.Int)
})
const IndexInfo = Schema.Struct({
  txindex: Schema.optionalKey(Schema.Struct({ synced: Schema.Boolean, best_block_height: Schema.Int }))
})

/** The names of each network in Core and btcd. */
const chainNames: { readonly [network in Network]: ReadonlyArray<string> } = {
  mainnet: ["main", "mainnet"],
  testnet: ["test", "testnet3", "testnet4"],
  signet: ["signet"],
  regtest: ["regtest"]
}

/** The progress of a node's transaction index. */
export interface Index {
  /** True if the index has ever reached the tip. */
  readonly isSynced: boolean
  readonly height: number
}

/** The state of a node. */
export interface Standing {
  readonly tip: Tip
  /**
   * Undefined if the node doesn't report its index, like Core before 0.21 and btcd, which indexes each block as
   * it connects it.
   */
  readonly index: Index | undefined
}

/** The outage of a node whose index is behind its chain. */
export const indexing = ({ tip, index }: Standing): Outage =>
  new Outage(`indexing: block ${index?.height ?? 0} of ${tip.height}`, Connection.waiting)

/** The outage of a node that has just started, and does not know all transactions of its mempool yet. */
export const loading = new Outage("the node is loading its mempool", Connection.waiting)

/** Returns why the node's knowledge of transactions is incomplete; undefined if it is complete. */
export const lagging = (standing: Standing): Outage | undefined => {
  const { tip, index } = standing
  return index !== undefined && (!index.isSynced || tip.height - index.height > Behind.maxBlocksBehind)
    ? indexing(standing)
    : undefined
}

/**
 * Reads a node's state. Fails until the node has caught up with its network, but not if only its index is
 * behind.
 */
export const stand = (
  { ask, call }: Connection.Connection,
  { network, lastRead = noneRead }: Pick<Options, "network" | "lastRead">
): Effect.Effect<Standing, ChainUnavailable> =>
  Effect.gen(function* () {
    // Read it first: a block that arrives in between is then no reason.
    const readTo = yield* lastRead
    const {
      chain,
      blocks,
      headers,
      bestblockhash,
      initialblockdownload = false,
      time
    } = yield* ask("getblockchaininfo", [], Info)
    if (!chainNames[network].includes(chain))
      return yield* away("tip")(
        new Outage(
          `the node is on ${chain}, but this service is on ${network}`,
          "Check BITCOIN_RPC_URL and SATRAIL_NETWORK."
        )
      )
    // A private chain can be caught up although its last block is days old.
    const isSynced = network === "regtest" || !initialblockdownload
    yield* current({
      height: blocks,
      isSynced,
      announced: headers,
      lastRead: readTo,
      network,
      timeSeconds: time
    })
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

/**
 * Reads a node's state for a check before the service starts. Fails with a reason if the node cannot be used
 * now, unless only its index is behind.
 */
export const standing = (options: Options): Effect.Effect<Standing, ChainUnavailable> =>
  stand(Connection.connect(options), options)

/**
 * Checks that this node accepts our credentials, is on our network and keeps a transaction index. Doesn't fail
 * for temporary conditions: a node that is unreachable, catching up or indexing.
 */
export const check = (options: Options): Effect.Effect<void, NodeUnusable> =>
  Effect.gen(function* () {
    const connection = Connection.connect(options)
    const { ask, call } = connection
    const { chain, blocks } = yield* ask("getblockchaininfo", [], Info)
    if (!chainNames[options.network].includes(chain)) {
      return yield* new NodeUnusable({
        reason: `it is on ${chain}, but this service is on ${options.network} (SATRAIL_NETWORK)`
      })
    }
    const standing = yield* stand(connection, options)
    if (standing.index?.isSynced === false)
      return yield* Effect.logWarning("bitcoin node: not ready", { reason: indexing(standing).message })
    if (standing.index !== undefined || blocks < 1) return
    // A node that doesn't report its index must know a transaction that every node of the network has.
    const hash = yield* ask("getblockhash", [1], Schema.String)
    const { tx } = yield* ask("getblock", [hash, 1], Schema.Struct({ tx: Schema.Array(Schema.String) }))
    yield* Effect.catchTag(
      call("getrawtransaction", [tx[0] ?? "", 0], Schema.String),
      "RpcRefused",
      (refusal) =>
        Connection.lacksIndex(refusal.message)
          ? Effect.fail(new NodeUnusable({ reason: Connection.withoutIndex.sentence }))
          : Effect.logWarning("bitcoin node: not ready", { reason: Connection.reasonOf(refusal).message })
    )
  }).pipe(
    Effect.catchTag("ChainUnavailable", ({ cause }) => {
      const reason = cause instanceof Outage ? cause.sentence : String(cause)
      return /rejects the user|not JSON-RPC|keeps no index/.test(reason)
        ? Effect.fail(new NodeUnusable({ reason }))
        : Effect.logWarning("bitcoin node: no response yet", { reason })
    })
  )
