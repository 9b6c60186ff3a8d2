import { Context, Effect, Layer, Redacted, Schema } from "effect"
import * as Binaries from "./Binaries.ts"
import * as Chain from "./Chain.ts"
import * as Miner from "./Miner.ts"
import * as Process from "./Process.ts"

/** The bitcoind process. It can be stopped and restarted, because bitcoind stores its chain on disk. */
export class Bitcoind extends Context.Service<
  Bitcoind,
  {
    readonly stop: (signal: "SIGTERM" | "SIGKILL") => Effect.Effect<void>
    /** Restarts bitcoind on the same ports, and waits until it responds. */
    readonly start: Effect.Effect<void, Process.RegtestFailed>
  }
>()("@satrail/regtest/Bitcoind") {}

const user = "satrail"

/** Idle time after which bitcoind closes a connection. It is longer than any test is idle. The default is 30 s. */
const idleSeconds = 600

const Index = Schema.Struct({
  txindex: Schema.Struct({ synced: Schema.Boolean, best_block_height: Schema.Int })
})

/** Starts bitcoind with a transaction index, without a wallet, and with these additional options. */
export const make = Effect.fnUntraced(function* (options: ReadonlyArray<string> = []) {
  const command = yield* Binaries.ensure("bitcoind")
  const folder = yield* Process.folder
  const [port, blocksPort, transactionsPort] = [
    yield* Process.freePort,
    yield* Process.freePort,
    yield* Process.freePort
  ]
  const password = Redacted.make("regtest")
  const zmq = [
    `zmqpubrawblock=tcp://127.0.0.1:${blocksPort}`,
    `zmqpubrawtx=tcp://127.0.0.1:${transactionsPort}`
  ]
  const args = [
    "-regtest",
    "-server",
    `-datadir=${folder}`,
    "-txindex",
    "-disablewallet",
    "-listen=0",
    "-connect=0",
    "-printtoconsole",
    "-nodebuglogfile",
    `-rpcuser=${user}`,
    // The password is not a secret, for the same reason as btcd's.
    `-rpcpassword=${Redacted.value(password)}`,
    `-rpcport=${port}`,
    "-rpcbind=127.0.0.1",
    "-rpcallowip=127.0.0.1",
    `-rpcservertimeout=${idleSeconds}`,
    ...zmq.map((one) => `-${one}`),
    ...options
  ]
  const url = `http://127.0.0.1:${port}`
  const call = Chain.caller({ node: "bitcoind", url, user, password, certificateFile: undefined })
  const height = call("getblockcount", [], Schema.Int)

  const running = yield* Process.make({ name: "bitcoind", command, args, folder })
  const start = Effect.gen(function* () {
    yield* running.start
    yield* Effect.raceFirst(Process.until("bitcoind answers", height), running.died)
  })
  yield* start

  /** Waits until bitcoind responds and its index includes all blocks. */
  const indexed = Effect.gen(function* () {
    const top = yield* height
    const indexes = Effect.map(call("getindexinfo", ["txindex"], Index), ({ txindex }) => txindex)
    yield* Process.until(
      `bitcoind has indexed block ${top}`,
      Effect.map(indexes, ({ best_block_height }) => (best_block_height >= top ? true : undefined))
    )
  })

  const chain = Chain.Chain.of({
    node: "bitcoind",
    url,
    port,
    user,
    password,
    certificateFile: undefined,
    lndOptions: [
      "--bitcoin.node=bitcoind",
      `--bitcoind.rpchost=127.0.0.1:${port}`,
      `--bitcoind.rpcuser=${user}`,
      `--bitcoind.rpcpass=${Redacted.value(password)}`,
      ...zmq.map((one) => `--bitcoind.${one}`)
    ],
    call,
    mine: (blocks) =>
      Effect.tap(
        call("generatetoaddress", [blocks, Miner.address], Schema.Array(Schema.String)),
        () => indexed
      ),
    send: Chain.payer(call),
    height,
    indexed
  })
  return Context.make(Chain.Chain, chain).pipe(Context.add(Bitcoind, { stop: running.stop, start }))
})

export const layer = Layer.effectContext(make())
