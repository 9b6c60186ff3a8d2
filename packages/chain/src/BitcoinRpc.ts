import * as TxId from "@satrail/bitcoin/TxId"
import { isYoung } from "@satrail/core/base/ReadCache"
import {
  type Broadcast,
  ChainSource,
  type ChainUnavailable,
  type Placement,
  type Tip
} from "@satrail/core/nodes/ChainSource"
import { Clock, Effect, Layer, Option, Result, Schema } from "effect"
import { codes, connect, reasonOf, RpcRefused } from "./BitcoinRpcConnection.ts"
import * as Standing from "./BitcoinRpcStanding.ts"
import * as Version from "./BitcoinRpcVersion.ts"
import * as Block from "./Block.ts"
import * as FeeRates from "./FeeRates.ts"
import * as Follower from "./Follower.ts"
import { away } from "./Outage.ts"

export { check, NodeUnusable, standing } from "./BitcoinRpcStanding.ts"

/**
 * A node with Bitcoin Core's JSON-RPC and a transaction index: Core with `txindex=1`, btcd with `--txindex`.
 */
export interface Options extends Standing.Options {
  readonly beginning: Follower.Beginning
  readonly feeRates?: FeeRates.Options | undefined
}

/**
 * Returns whether a refusal means that the record doesn't exist. The code alone is not enough: a node that
 * cannot know also returns -5.
 */
type Missing = (refusal: RpcRefused) => boolean

/**
 * Matches the errors that Core with a complete index and btcd return for a missing transaction (Core,
 * rpc/rawtransaction.cpp; btcd, rpcserver.go).
 */
const isAbsent: Missing = ({ code, message }) =>
  code === codes.noInformation &&
  /^no (?:such mempool or blockchain transaction|information available about transaction)/i.test(message)

/** Matches Core's "Block height out of range" (-8) and btcd's "Block number out of range" (-1). */
const isAboveTip: Missing = ({ message }) => /out of range/i.test(message)

/** Matches the refusal of a method that the node does not have. */
const isUnsupported: Missing = ({ code }) => code === codes.noMethod

const Header = Schema.Struct({ height: Schema.Int, time: Schema.Int })
const Known = Schema.Struct({
  blockhash: Schema.optionalKey(Schema.String),
  confirmations: Schema.optionalKey(Schema.Int),
  vin: Schema.Array(Schema.Struct({ coinbase: Schema.optionalKey(Schema.String) }))
})
const MempoolInfo = Schema.Struct({ loaded: Schema.optionalKey(Schema.Boolean) })
const Estimate = Schema.Struct({ feerate: Schema.optionalKey(Schema.Finite) })

/**
 * Maximum number of attempts to confirm that a transaction is gone: a block that arrives during an attempt
 * invalidates it.
 */
const timesAsked = 3

/** How long a caught-up node is assumed to stay caught up without another check. */
const caughtUpForMillis = 5_000

/** The confirmation target for fee estimates, in blocks. */
const targetBlocks = 6

const requestsAtOnce = 8

const view = (options: Options) => {
  const connection = connect(options)
  const { call, ask, each } = connection
  const now = Standing.stand(connection, options)
  let caughtUpAtMillis = -Infinity

  const tip: Effect.Effect<Tip, ChainUnavailable> = Effect.gen(function* () {
    const standing = yield* now
    const lagging = Standing.lagging(standing)
    if (lagging !== undefined) return yield* away("tip")(lagging)
    caughtUpAtMillis = yield* Clock.currentTimeMillis
    return standing.tip
  })

  // A node that is behind may not have seen the transaction yet. This check is for early failure only: whatever is
  // concluded from an absence is checked again.
  const caughtUp = Effect.flatMap(Clock.currentTimeMillis, (nowMillis) =>
    isYoung(caughtUpAtMillis, nowMillis, caughtUpForMillis) ? Effect.void : Effect.asVoid(tip)
  )

  /** Returns none if the node reports that there is no such record. */
  const find = <A>(
    method: string,
    params: ReadonlyArray<unknown>,
    result: Schema.Codec<A, unknown>,
    isMissing: Missing
  ) =>
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
    block: (hash) =>
      Effect.map(ask("getblock", [hash, 0], Schema.String), (text) => Buffer.from(text, "hex")),
    waiting: ask("getrawmempool", [false], Schema.Array(TxId.TxId)),
    transactions: (txIds) =>
      Effect.map(
        each(
          "getrawtransaction",
          txIds.map((txId) => [txId, 0]),
          Schema.String
        ),
        (found) => found.flatMap((text) => (text === undefined ? [] : [Buffer.from(text, "hex")]))
      )
  }

  return { call, ask, find, hashAt, now, caughtUp, node }
}

/**
 * Returns the outputs of transactions in the chain or the mempool that no block or mempool transaction spends. After
 * a reorganization, the change of a settled payout is in the mempool again.
 */
export const unspent = (options: Options) => {
  const { ask, node } = view(options)
  // A node that is behind lacks the coins of the blocks that it has not read.
  return (outpoints: ReadonlyArray<string>) =>
    Effect.andThen(
      node.tip,
      Effect.filter(
        outpoints,
        (outpoint) => {
          const [txId = "", vout = ""] = outpoint.split(":")
          return Effect.map(
            ask("gettxout", [txId, Number(vout), true], Schema.Unknown),
            (output) => output !== null
          )
        },
        { concurrency: requestsAtOnce }
      )
    )
}

/**
 * Returns the known bugs of the node's version; undefined if there are none or the node doesn't report its
 * version.
 */
export const judgement = (options: Standing.Options) => Version.judgement(connect(options))

/** Creates the view of a node that `Follower` reads. */
export const node = (options: Options): Follower.Node => view(options).node

/** Creates a chain source that reads from your node. */
export const make = (options: Options) => {
  const { beginning, feeRates } = options
  const { call, ask, find, hashAt, now, caughtUp, node } = view(options)

  /**
   * Queries the node once. If the index is one block behind, it doesn't contain that block's transactions, and
   * neither does the mempool.
   */
  const look = Effect.fnUntraced(function* (txId: TxId.TxId): Effect.fn.Return<Placement, ChainUnavailable> {
    const known = yield* find("getrawtransaction", [txId, 1], Known, isAbsent)
    if (known._tag === "None") return { _tag: "gone" }
    const { blockhash, confirmations = 0, vin } = known.value
    if (blockhash === undefined) return { _tag: "mempool" }
    // The index still contains transactions of blocks removed by a reorganization.
    const { height } = yield* ask("getblockheader", [blockhash, true], Header)
    const inChain = Option.getOrUndefined(yield* hashAt(height)) === blockhash
    return confirmations > 0 && inChain
      ? { _tag: "mined", height, isCoinbase: vin[0]?.coinbase !== undefined }
      : { _tag: "gone" }
  })

  /**
   * Core opens its RPC before it has loaded the mempool that it saved when it stopped. A node that does not report
   * this (btcd) saves none.
   */
  const isMempoolLoaded = Effect.map(
    find("getmempoolinfo", [], MempoolInfo, isUnsupported),
    (info) => Option.getOrUndefined(info)?.loaded !== false
  )

  /**
   * A transaction is gone if the node doesn't know it while its mempool is loaded and its index has reached the
   * tip, and the tip doesn't change during the lookup. It is in the mempool only if the node is not behind: a node
   * that is behind keeps transactions there that are in a block.
   */
  const transaction = Effect.fnUntraced(function* (
    txId: TxId.TxId
  ): Effect.fn.Return<Placement, ChainUnavailable> {
    yield* caughtUp
    let placement = yield* look(txId)
    for (let times = 0; placement._tag !== "mined"; times++) {
      if (times === timesAsked)
        return yield* away("transaction")(new Error("the node's chain kept changing during the read"))
      const before = yield* now
      if (placement._tag === "gone") {
        if (before.index !== undefined && before.index.height < before.tip.height)
          return yield* away("transaction")(Standing.indexing(before))
        if (!(yield* isMempoolLoaded)) return yield* away("transaction")(Standing.loading)
      }
      const first = placement._tag
      placement = yield* look(txId)
      if (placement._tag === "mempool") return placement
      if (
        first === "gone" &&
        placement._tag === "gone" &&
        (yield* ask("getbestblockhash", [], Schema.String)) === before.tip.hash
      )
        return placement
    }
    return placement
  })

  const broadcast = Effect.fnUntraced(
    function* (rawTx: string): Effect.fn.Return<Broadcast, ChainUnavailable> {
      const txId = Block.txIdOf(rawTx)
      if (txId === undefined) return { _tag: "rejected", reason: "it is not a transaction" }
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

  /** Core and btcd both return BTC per 1000 virtual bytes. */
  const perVirtualByte = (rate: number | undefined) =>
    rate === undefined || rate <= 0 ? undefined : (rate * 100_000_000) / 1000
  // btcd has only `estimatefee`. Both methods fail until the node has seen enough traffic.
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
    rawTransaction: (txId) =>
      Effect.map(find("getrawtransaction", [txId, 0], Schema.String, isAbsent), Option.getOrNull),
    timeSecondsAt: node.timeSecondsAt,
    broadcast,
    feeRate: FeeRates.make(estimated, feeRates)
  })
}

export const layer = (options: Options) => Layer.sync(ChainSource, () => make(options))
