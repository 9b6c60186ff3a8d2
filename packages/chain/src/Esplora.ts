import * as TxId from "@satrail/bitcoin/TxId"
import type { Network } from "@satrail/bitcoin/Network"
import {
  type Broadcast,
  ChainSource,
  type ChainUnavailable,
  type Placement,
  type Tip
} from "@satrail/core/nodes/ChainSource"
import { Effect, Layer, Option, Schema } from "effect"
import * as Block from "./Block.ts"
import * as FeeRates from "./FeeRates.ts"
import * as Follower from "./Follower.ts"
import { away, Outage } from "./Outage.ts"
import { current, type LastRead, noneRead } from "./Progress.ts"
import * as Request from "./Request.ts"

/** The connection options of a server, and what is known of its chain. */
export interface Server extends Request.Options {
  /** Without one, or on regtest, the age of the last block is not judged. */
  readonly network?: Network | undefined
  /** Height of the last block that the service read. A server without this block is behind. */
  readonly lastRead?: LastRead | undefined
}

/**
 * An Esplora server (github.com/Blockstream/esplora, API.md): your own, or one you trust to report the chain
 * truthfully.
 */
export interface Options extends Server {
  readonly beginning: Follower.Beginning
  readonly feeRates?: FeeRates.Options | undefined
}

const BlockStatus = Schema.fromJsonString(
  Schema.Struct({ id: Schema.String, height: Schema.Int, timestamp: Schema.Int })
)
const Known = Schema.fromJsonString(
  Schema.Struct({
    status: Schema.Union([
      Schema.Struct({ confirmed: Schema.Literal(true), block_height: Schema.Int }),
      Schema.Struct({ confirmed: Schema.Literal(false) })
    ]),
    vin: Schema.Array(Schema.Struct({ is_coinbase: Schema.Boolean }))
  })
)
const Outspends = Schema.fromJsonString(Schema.Array(Schema.Struct({ spent: Schema.Boolean })))
const TxIds = Schema.fromJsonString(Schema.Array(TxId.TxId))
const Estimates = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Finite))

const targetBlocks = "6"
const requestsAtOnce = 8

/**
 * Maximum number of attempts to confirm that a transaction is gone: a block that arrives during an attempt
 * invalidates it.
 */
const timesAsked = 3

/**
 * The server's message for a missing record (Blockstream/electrs, rest.rs). A 404 alone is not enough, because
 * proxies and gateways return it too.
 */
const isMissing = ({ status, body }: Request.Answer) =>
  status === 404 && /^(?:transaction|block) not found$/i.test(body.toString("utf8").trim())

const ok = ({ status }: Request.Answer) => status === 200

const connect = (options: Request.Options) => {
  const request = Request.make(options)
  const ask = (path: string) =>
    Effect.mapError(request({ method: "GET", path }), (cause) =>
      away(path)(
        cause instanceof Outage
          ? cause
          : new Outage("the Esplora server cannot be reached", `Check ESPLORA_URL. Error: ${cause.message}.`)
      )
    )
  const unexpected = (path: string, { status, body }: Request.Answer) =>
    away(path)(
      new Outage(
        `the Esplora server responds with status ${status}`,
        `Check ESPLORA_URL. Response: ${body.toString("utf8").slice(0, 200)}`
      )
    )
  /** Reads a path; none if the server reports that there is no such record. */
  const find = (path: string) =>
    Effect.flatMap(ask(path), (answer) =>
      ok(answer)
        ? Effect.succeed(Option.some(answer.body))
        : isMissing(answer)
          ? Effect.succeed(Option.none<Buffer>())
          : Effect.fail(unexpected(path, answer))
    )
  const get = (path: string) =>
    Effect.flatMap(ask(path), (answer) =>
      ok(answer) ? Effect.succeed(answer.body) : Effect.fail(unexpected(path, answer))
    )
  const json = <A>(path: string, schema: Schema.Codec<A, string>) =>
    Effect.flatMap(get(path), (body) =>
      Effect.mapError(Schema.decodeUnknownEffect(schema)(body.toString("utf8")), away(path))
    )
  return { request, find, get, json }
}

/** Reads a server's fee rate estimate. */
const feeSource = (options: Request.Options): FeeRates.Source =>
  Effect.map(connect(options).json("/fee-estimates", Estimates), (estimates) => estimates[targetBlocks])

/**
 * Returns the outputs of transactions in the chain or the mempool that no block or mempool transaction spends. After
 * a reorganization, the change of a settled payout is in the mempool again.
 */
export const unspent = (options: Server) => {
  const { find } = connect(options)
  const { tip } = node(options)
  /** Returns the spends of a transaction's outputs; none if the server doesn't know the transaction. */
  const spends = Effect.fnUntraced(function* (txId: string) {
    const path = `/tx/${txId}/outspends`
    const found = yield* find(path)
    if (Option.isNone(found)) return undefined
    return yield* Effect.mapError(
      Schema.decodeUnknownEffect(Outspends)(found.value.toString("utf8")),
      away(path)
    )
  })
  return Effect.fnUntraced(function* (outpoints: ReadonlyArray<string>) {
    // A server that is behind lacks the coins of the blocks that it has not read.
    yield* tip
    const byTransaction = Map.groupBy(outpoints, (outpoint) => outpoint.split(":")[0] ?? "")
    const found = yield* Effect.forEach(
      byTransaction,
      Effect.fnUntraced(function* ([txId, ours]) {
        const outputs = yield* spends(txId)
        return yield* Effect.filter(ours, (outpoint) => {
          if (outputs === undefined) return Effect.succeed(false)
          const output = outputs[Number(outpoint.split(":")[1])]
          return output === undefined
            ? away("coins")(new Error(`${outpoint} is missing in the response`))
            : Effect.succeed(!output.spent)
        })
      }),
      { concurrency: requestsAtOnce }
    )
    return found.flat()
  })
}

/** Creates the node that a follower reads. */
export const node = (options: Server): Follower.Node => {
  const { network = "regtest", lastRead = noneRead } = options
  const { find, get, json } = connect(options)

  const tip: Effect.Effect<Tip, ChainUnavailable> = Effect.gen(function* () {
    // Read it first: a block that arrives in between is then no reason.
    const readTo = yield* lastRead
    const hash = (yield* get("/blocks/tip/hash")).toString("utf8").trim()
    const { height, timestamp } = yield* json(`/block/${hash}`, BlockStatus)
    yield* current({ height, isSynced: true, lastRead: readTo, network, timeSeconds: timestamp })
    return { height, hash }
  })

  const hashAt = (height: number) =>
    Effect.map(find(`/block-height/${height}`), (found) =>
      Option.map(found, (body) => body.toString("utf8").trim())
    )

  return {
    tip,
    hashAt,
    timeSecondsAt: Effect.fnUntraced(function* (height) {
      const hash = (yield* get(`/block-height/${height}`)).toString("utf8").trim()
      return (yield* json(`/block/${hash}`, BlockStatus)).timestamp
    }),
    block: Effect.fnUntraced(function* (hash) {
      const bytes = yield* get(`/block/${hash}/raw`)
      return Block.hashOf(bytes) === hash
        ? bytes
        : yield* away("block")(new Error(`the server returned a block other than ${hash}`))
    }),
    waiting: json("/mempool/txids", TxIds),
    transactions: (txIds) =>
      Effect.map(
        Effect.forEach(txIds, (txId) => find(`/tx/${txId}/raw`), { concurrency: requestsAtOnce }),
        (found) => found.flatMap((one) => (one._tag === "Some" ? [one.value] : []))
      )
  }
}

/**
 * Creates a chain source that reads from a server. It reads whole blocks, so the server does not learn which
 * addresses are ours.
 */
export const make = (options: Options) => {
  const { request, find, get } = connect(options)
  const server = node(options)
  let highest = 0
  const tip = Effect.tap(server.tip, ({ height }) =>
    Effect.sync(() => {
      highest = Math.max(highest, height)
    })
  )
  const blocks: Follower.Node = { ...server, tip }

  /** Queries the server once. */
  const look = Effect.fnUntraced(function* (txId: TxId.TxId): Effect.fn.Return<Placement, ChainUnavailable> {
    const found = yield* find(`/tx/${txId}`)
    if (found._tag === "None") return { _tag: "gone" }
    const { status, vin } = yield* Effect.mapError(
      Schema.decodeUnknownEffect(Known)(found.value.toString("utf8")),
      away("transaction")
    )
    return status.confirmed
      ? { _tag: "mined", height: status.block_height, isCoinbase: vin[0]?.is_coinbase === true }
      : { _tag: "mempool" }
  })

  /**
   * A transaction is gone or in the mempool if the server says so, the tip is the same before and after, and no higher
   * tip was reported or read earlier: a server that is behind lacks the block that the transaction is in.
   */
  const transaction = Effect.fnUntraced(function* (
    txId: TxId.TxId
  ): Effect.fn.Return<Placement, ChainUnavailable> {
    let placement = yield* look(txId)
    for (let times = 0; placement._tag !== "mined"; times++) {
      if (times === timesAsked) {
        const reason = "the Esplora server's tip kept changing during the read"
        return yield* away("transaction")(
          new Outage(reason, "If several servers are behind ESPLORA_URL, point it at one of them.")
        )
      }
      const before = yield* tip
      if (before.height < highest) {
        const reason = `the Esplora server is at block ${before.height}, and was at ${highest} before`
        return yield* away("transaction")(
          new Outage(
            reason,
            "The server is behind, so wait. If several servers are behind ESPLORA_URL, point it at one of them."
          )
        )
      }
      placement = yield* look(txId)
      const after = placement._tag !== "mined" ? (yield* get("/blocks/tip/hash")).toString("utf8").trim() : ""
      if (after === before.hash) return placement
    }
    return placement
  })

  const broadcast = Effect.fnUntraced(
    function* (rawTx: string): Effect.fn.Return<Broadcast, ChainUnavailable> {
      const txId = Block.txIdOf(rawTx)
      if (txId === undefined) return { _tag: "rejected", reason: "it is not a transaction" }
      yield* tip
      if ((yield* look(txId))._tag !== "gone") return { _tag: "known" }
      const answer = yield* Effect.mapError(
        request({ method: "POST", path: "/tx", body: rawTx }),
        away("broadcast")
      )
      if (ok(answer)) return { _tag: "accepted" }
      const reason = answer.body.toString("utf8").slice(0, 500)
      // The node behind the server refused the transaction; the body contains the node's error code.
      const code = /"code":\s*(-\d+)/.exec(reason)?.[1]
      if (code === "-27") return { _tag: "known" }
      return answer.status === 400 && (code === "-22" || code === "-25" || code === "-26")
        ? { _tag: "rejected", reason }
        : { _tag: "unknown" }
    },
    Effect.catchTag("ChainUnavailable", () => Effect.succeed<Broadcast>({ _tag: "unknown" }))
  )

  return ChainSource.of({
    tip: blocks.tip,
    activity: Follower.make(blocks, options.beginning).activity,
    transaction,
    rawTransaction: (txId) =>
      Effect.map(find(`/tx/${txId}/raw`), (found) =>
        Option.getOrNull(Option.map(found, (body) => body.toString("hex")))
      ),
    timeSecondsAt: server.timeSecondsAt,
    broadcast,
    feeRate: FeeRates.make(feeSource(options), options.feeRates)
  })
}

export const layer = (options: Options) => Layer.sync(ChainSource, () => make(options))
