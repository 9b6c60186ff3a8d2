import * as TxId from "@satrail/bitcoin/TxId"
import * as Https from "@satrail/nodes/Https"
import { Context, Effect, type Redacted, Schema } from "effect"
import { HttpClientRequest, HttpClientResponse } from "effect/http"
import * as Miner from "./Miner.ts"
import { RegtestFailed } from "./Process.ts"

/** A regtest chain with one node: `Btcd.layer` or `Bitcoind.layer`. */
export class Chain extends Context.Service<
  Chain,
  {
    readonly node: "btcd" | "bitcoind"
    /** The address of the node's RPC, on the loopback interface. */
    readonly url: string
    readonly port: number
    readonly user: string
    readonly password: Redacted.Redacted
    /** The RPC's certificate file, or undefined for plain HTTP. */
    readonly certificateFile: string | undefined
    /** Options with which lnd follows this chain. */
    readonly lndOptions: ReadonlyArray<string>
    /** Calls the node's RPC. */
    readonly call: Call
    /** Mines blocks and returns their hashes, newest last. The first block includes everything in the mempool. */
    readonly mine: (blocks: number) => Effect.Effect<ReadonlyArray<string>, RegtestFailed>
    /**
     * Pays an address with the miner's coins, and leaves the transaction in the mempool. The miner has coins
     * after the first `Miner.firstBlocks` blocks.
     */
    readonly send: (address: string, sats: bigint) => Effect.Effect<TxId.TxId, RegtestFailed>
    readonly height: Effect.Effect<number, RegtestFailed>
    /**
     * Waits until the transaction index includes the newest block. `mine` does this itself; after
     * submitting a block in any other way, call this.
     */
    readonly indexed: Effect.Effect<void, RegtestFailed>
  }
>()("@satrail/regtest/Chain") {}

export type Call = <A>(
  method: string,
  params: ReadonlyArray<unknown>,
  result: Schema.Codec<A, unknown>
) => Effect.Effect<A, RegtestFailed>

const Answer = Schema.Struct({
  result: Schema.Unknown,
  error: Schema.NullOr(Schema.Struct({ code: Schema.Int, message: Schema.String }))
})

/** Returns a function that calls a node's JSON-RPC. */
export const caller = (options: {
  readonly node: string
  readonly url: string
  readonly user: string
  readonly password: Redacted.Redacted
  readonly certificateFile: string | undefined
}): Call => {
  const { node, url, user, password, certificateFile } = options
  const client = Https.make({ certificateFile })
  return (method, params, result) => {
    const request = HttpClientRequest.post(url).pipe(
      HttpClientRequest.basicAuth(user, password),
      HttpClientRequest.bodyJsonUnsafe({ jsonrpc: "1.0", id: 1, method, params })
    )
    return client.execute(request).pipe(
      Effect.flatMap(HttpClientResponse.schemaBodyJson(Answer)),
      Effect.flatMap(({ error, result }) => (error === null ? Effect.succeed(result) : Effect.fail(error))),
      Effect.flatMap(Schema.decodeUnknownEffect(result)),
      Effect.mapError(({ message }) => new RegtestFailed({ message: `${node}, ${method}: ${message}` }))
    )
  }
}

const Verbose = Schema.Struct({ tx: Schema.NonEmptyArray(TxId.TxId) })
const Coinbase = Schema.Struct({ vout: Schema.NonEmptyArray(Schema.Struct({ value: Schema.Finite })) })

/**
 * Returns a function that pays with the miner's coins. Each payment spends the coins of the next block,
 * starting with the first block.
 */
export const payer = (call: Call) => {
  let spent = 0
  return Effect.fnUntraced(function* (address: string, sats: bigint) {
    spent++
    const hash = yield* call("getblockhash", [spent], Schema.String)
    const [coinbase] = (yield* call("getblock", [hash, 1], Verbose)).tx
    const { vout } = yield* call("getrawtransaction", [coinbase, 1], Coinbase)
    const { rawTx, txId } = Miner.spend(
      { txId: coinbase, sats: BigInt(Math.round(vout[0].value * 1e8)) },
      address,
      sats
    )
    yield* call("sendrawtransaction", [rawTx], Schema.String)
    return txId
  })
}
