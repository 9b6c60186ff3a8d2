import { Effect, Layer, Redacted, Schema } from "effect"
import path from "node:path"
import * as Binaries from "./Binaries.ts"
import * as Chain from "./Chain.ts"
import * as Miner from "./Miner.ts"
import * as Process from "./Process.ts"

const user = "satrail"

/**
 * Starts a chain with btcd, whose RPC is largely the same as Bitcoin Core's. btcd has no wallet, and loses its
 * chain when it exits.
 */
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
    // The password is not a secret, because the network is temporary and only reachable from this machine.
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
  const call = Chain.caller({ node: "btcd", url, user, password, certificateFile })
  const height = call("getblockcount", [], Schema.Int)

  const running = yield* Process.make({ name: "btcd", command, args, folder })
  yield* running.start
  yield* Effect.raceFirst(Process.until("btcd answers", height), running.died)

  const mine = (blocks: number) => call("generate", [blocks], Schema.Array(Schema.String))

  return Chain.Chain.of({
    node: "btcd",
    url,
    port,
    user,
    password,
    certificateFile,
    lndOptions: [
      "--bitcoin.node=btcd",
      `--btcd.rpchost=127.0.0.1:${port}`,
      `--btcd.rpcuser=${user}`,
      `--btcd.rpcpass=${Redacted.value(password)}`,
      `--btcd.rpccert=${certificateFile}`
    ],
    call,
    mine,
    send: Chain.payer(call),
    height,
    indexed: Effect.void // btcd updates its index with each block
  })
})

export const layer = Layer.effect(Chain.Chain, make)
