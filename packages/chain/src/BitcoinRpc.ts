import type { Network } from "@satrail/bitcoin/Network"
import * as TxId from "@satrail/bitcoin/TxId"
import { type Broadcast, ChainSource, type ChainUnavailable, type Placement, type Tip } from "@satrail/core/nodes/ChainSource"
import { Clock, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import * as Block from "./Block.ts"
import * as FeeRates from "./FeeRates.ts"
import * as Follower from "./Follower.ts"
import { away, Outage } from "./Outage.ts"
import * as Request from "./Request.ts"

/** A node that speaks Bitcoin Core's JSON-RPC, and keeps an index of transactions: Core with `txindex=1`, btcd with `--txindex`. */
export interface Options extends Request.Options {
  readonly user: string
  readonly password: Redacted.Redacted
  readonly network: Network
  readonly beginning: Follower.Beginning
  readonly feeRates?: FeeRates.Options | undefined
  /** More opinions on the fee rate: the median counts. */
  readonly feeSources?: ReadonlyArray<FeeRates.Source> | undefined
}

/** The node cannot be what this service runs on, whatever happens next. A person has to change something. */
export class NodeUnusable extends Schema.TaggedError<NodeUnusable>()("NodeUnusable", { reason: Schema.String }) {
  override get message(): string {
    return `The bitcoin node cannot be used: ${this.reason}`
  }
}

/** The node's own answer that it will not, by its number (Bitcoin Core, rpc/protocol.h). */
class RpcRefused extends Schema.TaggedError<RpcRefused>()("RpcRefused", { code: Schema.Int, message: Schema.String }) {}

const codes = {
  noInformation: -5,
  decode: -22,
  verify: -25,
  rejected: -26,
  known: -27,
  warmingUp: -28,
  noMethod: -32601
} as const

/** A refusal that says that there is no such thing. The number alone does not: -5 also comes from a node that cannot know. */
type Missing = (refusal: RpcRefused) => boolean

/** Core with an index that it has finished, and btcd, where there is no such transaction (Core, rpc/rawtransaction.cpp; btcd, rpcserver.go). */
const isAbsent: Missing = ({ code, message }) =>
  code === codes.noInformation && /^no (?:such mempool or blockchain transaction|information available about transaction)/i.test(message)

/** Core's "Block height out of range" (-8), btcd's "Block number out of range" (-1). */
const isAboveTip: Missing = ({ message }) => /out of range/i.test(message)

/** What a node without an index says: Core "Use -txindex …", btcd "(specify --txindex)". */
const lacksIndex = (message: string) => /-txindex/.test(message)

const withoutIndex = new Outage(
  "the node keeps no index of transactions",
  "Start it with txindex=1 (Bitcoin Core) or --txindex (btcd). Deposits and payouts wait until it has one."
)
const waiting = "Wait: deposits and payouts go on when it has."

/** Why a refusal is no answer, in words that say what to do where anything can be done. */
const reasonOf = ({ code, message }: RpcRefused): Error =>
  lacksIndex(message)
    ? withoutIndex
    : /being indexed/.test(message)
      ? new Outage("the node is indexing its transactions", waiting)
      : new Error(`${message} (${code})`)

const Reply = Schema.Struct({
  result: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(Schema.NullOr(Schema.Struct({ code: Schema.Int, message: Schema.String }))),
  id: Schema.Unknown
})
const OneReply = Schema.fromJsonString(Reply)
const Replies = Schema.fromJsonString(Schema.Array(Reply))

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
const Header = Schema.Struct({ height: Schema.Int, time: Schema.Int })
const Known = Schema.Struct({
  blockhash: Schema.optionalKey(Schema.String),
  confirmations: Schema.optionalKey(Schema.Int),
  vin: Schema.Array(Schema.Struct({ coinbase: Schema.optionalKey(Schema.String) }))
})
const Estimate = Schema.Struct({ feerate: Schema.optionalKey(Schema.Finite) })

/** What Core and btcd call each network. */
const chainNames: { readonly [network in Network]: ReadonlyArray<string> } = {
  mainnet: ["main", "mainnet"],
  testnet: ["test", "testnet3", "testnet4"],
  signet: ["signet"],
  regtest: ["regtest"]
}

/** How far a node may be behind its peers, and its index behind it: a block takes a moment to be checked, and another to be indexed. */
const maxBlocksBehind = 2

/** How often what a node says is gone is asked again, where a block came in between. */
const timesAsked = 3

/** How long a node that had caught up is believed to have. */
const caughtUpForMillis = 5_000

/** The blocks in which a transaction asked for should be mined. */
const targetBlocks = 6

const batchSize = 100
const requestsAtOnce = 8

/** One connection to a node. */
const connect = (options: Options) => {
  const request = Request.make(options)
  const authorization = `Basic ${Buffer.from(`${options.user}:${Redacted.value(options.password)}`).toString("base64")}`
  let id = 0

  const post = (operation: string, body: unknown) =>
    request({ method: "POST", path: "/", headers: { authorization, "content-type": "application/json" }, body: JSON.stringify(body) }).pipe(
      Effect.filterOrFail(
        ({ status }) => status !== 401 && status !== 403,
        ({ status }) =>
          status === 401
            ? new Outage("the node refuses our user and password (401)", "Check BITCOIN_RPC_USER and BITCOIN_RPC_PASSWORD.")
            : new Outage(
                `the node refuses our user and password, or does not let this user call ${operation} (403)`,
                "Check BITCOIN_RPC_USER and BITCOIN_RPC_PASSWORD, and the node's rpcallowip and rpcwhitelist."
              )
      ),
      Effect.mapError((cause) =>
        away(operation)(
          cause instanceof Outage
            ? cause
            : new Outage(
                "the bitcoin node cannot be reached",
                `Start it, or check BITCOIN_RPC_URL and CHAIN_TLS_CERT. Error: ${cause.message}.`
              )
        )
      ),
      Effect.map(({ body }) => body.toString("utf8"))
    )

  const call = <A>(method: string, params: ReadonlyArray<unknown>, result: Schema.Codec<A, unknown>) =>
    Effect.gen(function* () {
      const text = yield* post(method, { jsonrpc: "1.0", id: ++id, method, params })
      const reply = yield* Effect.mapError(Schema.decodeUnknownEffect(OneReply)(text), () =>
        away(method)(new Outage("the answer is no JSON-RPC", "Check BITCOIN_RPC_URL: it must be the address of a bitcoin node."))
      )
      if (reply.error) {
        const { code, message } = reply.error
        return yield* code === codes.warmingUp
          ? away(method)(new Outage(`the node is starting: ${message}`, "Wait."))
          : new RpcRefused({ code, message })
      }
      return yield* Effect.mapError(Schema.decodeUnknownEffect(result)(reply.result), away(method))
    })

  /** The same, where nothing that the node may refuse is asked for. */
  const ask = <A>(method: string, params: ReadonlyArray<unknown>, result: Schema.Codec<A, unknown>) =>
    Effect.catchTag(call(method, params, result), "RpcRefused", (refusal) => Effect.fail(away(method)(reasonOf(refusal))))

  /** Many calls of one method at once; undefined where the node refused one. */
  const each = <A>(method: string, params: ReadonlyArray<ReadonlyArray<unknown>>, result: Schema.Codec<A, unknown>) =>
    Effect.gen(function* () {
      const text = yield* post(
        method,
        params.map((one, id) => ({ jsonrpc: "2.0", id, method, params: one }))
      )
      const replies = yield* Effect.mapError(Schema.decodeUnknownEffect(Replies)(text), away(method))
      return replies.map((reply) => Option.getOrUndefined(Schema.decodeUnknownOption(result)(reply.result)))
    })

  return { call, ask, each }
}

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

const indexing = ({ tip, index }: Standing): Outage => new Outage(`indexing: block ${index?.height ?? 0} of ${tip.height}`, waiting)

/** Asks a node where it stands. Fails while it has not caught up with its network; how far its index is does not matter. */
const stand = ({ ask, call }: ReturnType<typeof connect>, network: Network): Effect.Effect<Standing, ChainUnavailable> =>
  Effect.gen(function* () {
    const { chain, blocks, headers, bestblockhash, initialblockdownload = false } = yield* ask("getblockchaininfo", [], Info)
    if (!chainNames[network].includes(chain))
      return yield* away("tip")(
        new Outage(`the node is on ${chain}, and this service on ${network}`, "Check BITCOIN_RPC_URL and SATRAIL_NETWORK.")
      )
    // A chain of one's own stands still for days and has still caught up.
    if (headers - blocks > maxBlocksBehind || (initialblockdownload && network !== "regtest")) {
      return yield* away("tip")(new Outage(`the node is catching up: it has ${blocks} of ${headers} blocks`, waiting))
    }
    const tip = { height: blocks, hash: bestblockhash }
    const told = yield* Effect.result(call("getindexinfo", ["txindex"], IndexInfo))
    if (Result.isFailure(told)) {
      if (!(told.failure instanceof RpcRefused)) return yield* told.failure
      return told.failure.code === codes.noMethod ? { tip, index: undefined } : yield* away("tip")(reasonOf(told.failure))
    }
    const { txindex } = told.success
    if (txindex === undefined) return yield* away("tip")(withoutIndex)
    return { tip, index: { isSynced: txindex.synced, height: txindex.best_block_height } }
  })

/** Where a node stands, for who looks at it before the service starts. Fails with a reason where it cannot be used now, but for an index that is behind. */
export const standing = (options: Options): Effect.Effect<Standing, ChainUnavailable> => stand(connect(options), options.network)

const view = (options: Options) => {
  const connection = connect(options)
  const { call, ask, each } = connection
  const now = stand(connection, options.network)
  let caughtUpAtMillis = -Infinity

  const tip: Effect.Effect<Tip, ChainUnavailable> = Effect.gen(function* () {
    const standing = yield* now
    const { tip, index } = standing
    if (index !== undefined && (!index.isSynced || tip.height - index.height > maxBlocksBehind)) {
      return yield* away("tip")(indexing(standing))
    }
    caughtUpAtMillis = yield* Clock.currentTimeMillis
    return tip
  })

  // What a node that lags behind does not know of is not gone.
  const caughtUp = Effect.flatMap(Clock.currentTimeMillis, (nowMillis) =>
    nowMillis - caughtUpAtMillis < caughtUpForMillis ? Effect.void : Effect.asVoid(tip)
  )

  /** None where the node says that there is no such thing. */
  const find = <A>(method: string, params: ReadonlyArray<unknown>, result: Schema.Codec<A, unknown>, isMissing: Missing) =>
    Effect.map(call(method, params, result), Option.some).pipe(
      Effect.catchTag("RpcRefused", (refusal) =>
        isMissing(refusal) ? Effect.succeed(Option.none<A>()) : Effect.fail(away(method)(reasonOf(refusal)))
      )
    )

  const hashAt = (height: number) => find("getblockhash", [height], Schema.String, isAboveTip)

  const node: Follower.Node = {
    tip,
    hashAt,
    timeSecondsAt: Effect.fnUntraced(function* (height) {
      const hash = yield* ask("getblockhash", [height], Schema.String)
      return (yield* ask("getblockheader", [hash, true], Header)).time
    }),
    block: (hash) => Effect.map(ask("getblock", [hash, 0], Schema.String), (text) => Buffer.from(text, "hex")),
    waiting: ask("getrawmempool", [false], Schema.Array(TxId.TxId)),
    transactions: Effect.fnUntraced(function* (txIds) {
      const found: Array<Buffer> = []
      for (let at = 0; at < txIds.length; at += batchSize) {
        const params = txIds.slice(at, at + batchSize).map((txId) => [txId, 0])
        for (const text of yield* each("getrawtransaction", params, Schema.String)) {
          if (text !== undefined) found.push(Buffer.from(text, "hex"))
        }
      }
      return found
    })
  }

  return { call, ask, find, hashAt, now, caughtUp, node }
}

/** Which of these outputs are in a block of the current chain, and unspent, in the mempool too. */
export const unspent = (options: Options) => {
  const { ask, caughtUp } = view(options)
  return (outpoints: ReadonlyArray<string>) =>
    Effect.andThen(
      caughtUp,
      Effect.filter(
        outpoints,
        (outpoint) => {
          const [txId = "", vout = ""] = outpoint.split(":")
          return Effect.map(ask("gettxout", [txId, Number(vout), true], Schema.Unknown), (output) => output !== null)
        },
        { concurrency: requestsAtOnce }
      )
    )
}

/** What a follower asks, answered by the node. */
export const node = (options: Options): Follower.Node => view(options).node

/** A view of the chain through a node of one's own. */
export const make = (options: Options) => {
  const { beginning, feeRates, feeSources = [] } = options
  const { call, ask, find, hashAt, now, caughtUp, node } = view(options)

  /** What the node says when it is asked once. An index that is a block behind does not know what that block took out of the mempool. */
  const look = Effect.fnUntraced(function* (txId: TxId.TxId): Effect.fn.Return<Placement, ChainUnavailable> {
    const known = yield* find("getrawtransaction", [txId, 1], Known, isAbsent)
    if (known._tag === "None") return { _tag: "gone" }
    const { blockhash, confirmations = 0, vin } = known.value
    if (blockhash === undefined) return { _tag: "mempool" }
    // The index still knows transactions of blocks that a reorganisation took.
    const { height } = yield* ask("getblockheader", [blockhash, true], Header)
    const inChain = Option.getOrUndefined(yield* hashAt(height)) === blockhash
    return confirmations > 0 && inChain ? { _tag: "mined", height, isCoinbase: vin[0]?.coinbase !== undefined } : { _tag: "gone" }
  })

  /** Gone is what the node does not know while its index has reached the tip, which is the same before and after. */
  const transaction = Effect.fnUntraced(function* (txId: TxId.TxId): Effect.fn.Return<Placement, ChainUnavailable> {
    yield* caughtUp
    let placement = yield* look(txId)
    for (let times = 0; placement._tag === "gone"; times++) {
      if (times === timesAsked) return yield* away("transaction")(new Error("the node's chain does not stand still for long enough"))
      const before = yield* now
      if (before.index !== undefined && before.index.height < before.tip.height) return yield* away("transaction")(indexing(before))
      placement = yield* look(txId)
      if (placement._tag === "gone" && (yield* ask("getbestblockhash", [], Schema.String)) === before.tip.hash) return placement
    }
    return placement
  })

  const broadcast = Effect.fnUntraced(
    function* (rawTx: string): Effect.fn.Return<Broadcast, ChainUnavailable> {
      const txId = Block.txIdOf(rawTx)
      if (txId === undefined) return { _tag: "rejected", reason: "it is no transaction" }
      yield* caughtUp
      if ((yield* look(txId))._tag !== "gone") return { _tag: "known" }
      const sent = yield* Effect.result(call("sendrawtransaction", [rawTx], Schema.String))
      if (Result.isSuccess(sent)) return { _tag: "accepted" }
      if (!(sent.failure instanceof RpcRefused)) return { _tag: "unknown" }
      const { code, message } = sent.failure
      if (code === codes.known) return { _tag: "known" }
      const isFinal = code === codes.decode || code === codes.verify || code === codes.rejected
      return isFinal ? { _tag: "rejected", reason: message } : { _tag: "unknown" }
    },
    Effect.catchTag("ChainUnavailable", () => Effect.succeed<Broadcast>({ _tag: "unknown" }))
  )

  /** BTC for 1000 virtual bytes, as both kinds of node say it. */
  const perVirtualByte = (rate: number | undefined) => (rate === undefined || rate <= 0 ? undefined : (rate * 100_000_000) / 1000)
  // btcd has only `estimatefee`. Either refuses while it has seen too little.
  const estimated: FeeRates.Source = Effect.gen(function* () {
    const smart = yield* Effect.result(call("estimatesmartfee", [targetBlocks, "CONSERVATIVE"], Estimate))
    if (Result.isSuccess(smart)) return perVirtualByte(smart.success.feerate)
    if (!(smart.failure instanceof RpcRefused)) return yield* smart.failure
    const plain = yield* Effect.result(call("estimatefee", [targetBlocks], Schema.Finite))
    if (Result.isSuccess(plain)) return perVirtualByte(plain.success)
    return plain.failure instanceof RpcRefused ? undefined : yield* plain.failure
  })

  return ChainSource.of({
    tip: node.tip,
    activity: Follower.make(node, beginning).activity,
    transaction,
    broadcast,
    feeRate: FeeRates.make([estimated, ...feeSources], feeRates)
  })
}

/**
 * Looks whether this node can be the one: it lets us in, is on our network and keeps an index of transactions. Fails where it never can be; where it
 * cannot be reached now, has not caught up or is still indexing, it may be later.
 */
export const check = (options: Options): Effect.Effect<void, NodeUnusable> =>
  Effect.gen(function* () {
    const connection = connect(options)
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
      lacksIndex(refusal.message)
        ? Effect.fail(new NodeUnusable({ reason: withoutIndex.sentence }))
        : Effect.logWarning("bitcoin node: not ready", { reason: reasonOf(refusal).message })
    )
  }).pipe(
    Effect.catchTag("ChainUnavailable", ({ cause }) => {
      const reason = cause instanceof Outage ? cause.sentence : String(cause)
      return /refuses our user|no JSON-RPC|keeps no index/.test(reason)
        ? Effect.fail(new NodeUnusable({ reason }))
        : Effect.logWarning("bitcoin node: no response yet", { reason })
    })
  )

export const layer = (options: Options) => Layer.sync(ChainSource, () => make(options))
