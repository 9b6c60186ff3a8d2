import * as TxId from "@satrail/bitcoin/TxId"
import * as Https from "@satrail/nodes/Https"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { HttpClientRequest, HttpClientResponse } from "effect/http"
import path from "node:path"
import * as Binaries from "./Binaries.ts"
import * as Miner from "./Miner.ts"
import * as Process from "./Process.ts"

/** A chain of our own: one btcd on regtest. Its RPC is much of Bitcoin Core's; it has no wallet. */
export class Btcd extends Context.Service<
  Btcd,
  {
    /** Where its RPC is, https on the loopback. */
    readonly url: string
    readonly port: number
    readonly user: string
    readonly password: Redacted.Redacted
    /** The file with the certificate that its RPC has. */
    readonly certificateFile: string
    /** Calls its RPC. */
    readonly call: <A>(
      method: string,
      params: ReadonlyArray<unknown>,
      result: Schema.Codec<A, unknown>
    ) => Effect.Effect<A, Process.RegtestFailed>
    /** Mines blocks, with all that waits in the first; their hashes, the newest last. */
    readonly mine: (blocks: number) => Effect.Effect<ReadonlyArray<string>, Process.RegtestFailed>
    /** Takes the last `depth` blocks away and mines `depth + 1` others. What was in the old ones may be mined again. */
    readonly reorg: (depth: number) => Effect.Effect<ReadonlyArray<string>, Process.RegtestFailed>
    /** Pays an address from the miner's coins; the transaction waits to be mined. There are coins after the first `Miner.firstBlocks`. */
    readonly send: (address: string, sats: bigint) => Effect.Effect<string, Process.RegtestFailed>
    readonly height: Effect.Effect<number, Process.RegtestFailed>
    /** It does not answer until it is resumed; nothing of it is lost. */
    readonly pause: Effect.Effect<void, Process.RegtestFailed>
    readonly resume: Effect.Effect<void, Process.RegtestFailed>
  }
>()("@satrail/regtest/Btcd") {}

const user = "satrail"

const Answer = Schema.Struct({
  result: Schema.Unknown,
  error: Schema.NullOr(Schema.Struct({ code: Schema.Int, message: Schema.String }))
})

const Coinbase = Schema.Struct({ txid: TxId.TxId, vout: Schema.NonEmptyArray(Schema.Struct({ value: Schema.Finite })) })
const Block = Schema.Struct({ rawtx: Schema.NonEmptyArray(Coinbase) })

export const make = Effect.gen(function* () {
  const command = yield* Binaries.ensure("btcd")
  const folder = yield* Process.folder
  const [port, listen] = [yield* Process.freePort, yield* Process.freePort]
  const password = Redacted.make("regtest")
  const certificateFile = path.join(folder, "rpc.cert")
  const args = [
    "--regtest",
    "--txindex",
    "--addrindex",
    "--nostalldetect",
    "--nobanning",
    "--nodnsseed",
    "--trickleinterval=50ms",
    "--rpcmaxwebsockets=50",
    "--rpcmaxclients=50",
    `--rpcuser=${user}`,
    // A network that is open to this machine alone, and is gone in a minute: this is no secret.
    `--rpcpass=${Redacted.value(password)}`,
    `--configfile=${path.join(folder, "btcd.conf")}`,
    `--datadir=${path.join(folder, "data")}`,
    `--logdir=${path.join(folder, "logs")}`,
    `--rpccert=${certificateFile}`,
    `--rpckey=${path.join(folder, "rpc.key")}`,
    `--rpclisten=127.0.0.1:${port}`,
    `--listen=127.0.0.1:${listen}`,
    `--miningaddr=${Miner.address}`
  ]
  const url = `https://127.0.0.1:${port}`
  const client = Https.make({ certificateFile })

  const call = <A>(method: string, params: ReadonlyArray<unknown>, result: Schema.Codec<A, unknown>) => {
    const request = HttpClientRequest.post(url).pipe(
      HttpClientRequest.basicAuth(user, password),
      HttpClientRequest.bodyJsonUnsafe({ jsonrpc: "1.0", id: 1, method, params })
    )
    return client.execute(request).pipe(
      Effect.flatMap(HttpClientResponse.schemaBodyJson(Answer)),
      Effect.flatMap(({ error, result }) => (error === null ? Effect.succeed(result) : Effect.fail(error))),
      Effect.flatMap(Schema.decodeUnknownEffect(result)),
      Effect.mapError(({ message }) => new Process.RegtestFailed({ message: `btcd, ${method}: ${message}` }))
    )
  }
  const height = call("getblockcount", [], Schema.Int)

  const running = yield* Process.make({ name: "btcd", command, args, folder })
  yield* running.start
  yield* Effect.raceFirst(Process.until("btcd answers", height), running.died)

  const mine = (blocks: number) => call("generate", [blocks], Schema.Array(Schema.String))
  let spent = 0

  return Btcd.of({
    url,
    port,
    user,
    password,
    certificateFile,
    call,
    mine,
    reorg: Effect.fnUntraced(function* (depth) {
      const hash = yield* call("getblockhash", [(yield* height) - depth + 1], Schema.String)
      yield* call("invalidateblock", [hash], Schema.Null)
      return yield* mine(depth + 1)
    }),
    send: Effect.fnUntraced(function* (address, sats) {
      spent++ // each from the coins of the next block
      const hash = yield* call("getblockhash", [spent], Schema.String)
      const [coinbase] = (yield* call("getblock", [hash, 2], Block)).rawtx
      const amount = coinbase.vout[0].value
      const { rawTx, txId } = Miner.spend({ txId: coinbase.txid, sats: BigInt(Math.round(amount * 1e8)) }, address, sats)
      yield* call("sendrawtransaction", [rawTx], Schema.String)
      return txId
    }),
    height,
    pause: Effect.andThen(
      running.signal("SIGSTOP"),
      // Its threads stop one after the other, and the last may still answer.
      Effect.asVoid(
        Process.until(
          "btcd is silent",
          Effect.map(Effect.timeoutOption(height, "100 millis"), (answer) => (answer._tag === "None" ? true : undefined))
        )
      )
    ),
    resume: running.signal("SIGCONT")
  })
})

export const layer = Layer.effect(Btcd, make)
