import * as BitcoinRpc from "@satrail/chain/BitcoinRpc"
import { type Config, Effect, Layer, Option, References, Result } from "effect"
import { certificate } from "../base/Certificate.ts"
import { messageOf, misconfigured, outage, right } from "../base/Check.ts"
import * as Setting from "../environment/Setting.ts"
import * as ChainView from "./ChainView.ts"
import * as KnownFaults from "./KnownFaults.ts"
import { NodeUnusable } from "./NodeUnusable.ts"

const needed = Setting.neededWith("CHAIN=bitcoin-rpc")

const settings = {
  url: needed({ name: "BITCOIN_RPC_URL", meaning: "The RPC address of a bitcoin node", ...Setting.httpUrl }),
  user: needed({
    name: "BITCOIN_RPC_USER",
    meaning: "The user name for the node's RPC (rpcuser)",
    wants: "a name without a colon",
    read: (text) => (text.includes(":") ? undefined : text)
  }),
  password: needed({
    name: "BITCOIN_RPC_PASSWORD",
    meaning: "The password for the node's RPC (rpcpassword)",
    ...Setting.secret("a string")
  }),
  certificateFile: ChainView.certificateFile,
  acceptVersion: Setting.acceptVersion("BITCOIN_ACCEPT_VERSION", "the bitcoin node")
}

const config = Setting.all(settings)

interface Settings extends Config.Success<typeof config> {}

const where = ({ url }: Settings) => new URL(url).origin

/** A placeholder for calls that don't use the starting height. */
const anywhere = { beginning: { height: 0 } }

const remedy = "Check BITCOIN_RPC_URL, BITCOIN_RPC_USER, BITCOIN_RPC_PASSWORD and SATRAIL_NETWORK."

const layer = (settings: Settings, from: ChainView.Beginning) => {
  const options = { ...settings, ...from }
  const usable = Effect.mapError(
    BitcoinRpc.check(options),
    ({ message }) => new NodeUnusable({ message: `${message}. ${remedy}` })
  )
  return Layer.unwrap(Effect.as(usable, BitcoinRpc.layer(options)))
}

const look = Effect.fnUntraced(function* (settings: Settings, place: ChainView.Place) {
  const unreadable = certificate(settings.certificateFile)
  if (unreadable !== undefined) return [unreadable]
  const { network } = place
  const options = { ...settings, ...anywhere, ...place, patienceMillis: ChainView.lookMillis }
  // Silence the log during the call, because this check reports the same warnings as lines.
  const usable = yield* Effect.result(
    Effect.provideService(BitcoinRpc.check(options), References.MinimumLogLevel, "None")
  )
  if (Result.isFailure(usable)) return [misconfigured(usable.failure.message, remedy)]
  const judgement = Option.getOrUndefined(yield* Effect.option(BitcoinRpc.judgement(options)))
  const faults = KnownFaults.lines(judgement, {
    setting: "BITCOIN_ACCEPT_VERSION",
    version: settings.acceptVersion
  })
  const standing = yield* Effect.result(BitcoinRpc.standing(options))
  if (Result.isFailure(standing)) {
    const { cause, reason, remedy } = standing.failure
    return [
      ...faults,
      outage(
        `the bitcoin node cannot be used: ${reason ?? messageOf(cause)}`,
        remedy ?? "Start it, or wait until it has caught up."
      )
    ]
  }
  const { tip, index } = standing.success
  return [
    ...faults,
    right(`the bitcoin node at ${where(settings)} is on ${network}, at block ${tip.height}`),
    index?.isSynced === false
      ? outage(
          `the bitcoin node is indexing its transactions: block ${index.height} of ${tip.height}`,
          "Wait. Deposits stay pending until it finishes."
        )
      : right("the bitcoin node has a transaction index")
  ]
})

export const backend = ChainView.make({
  name: "bitcoin-rpc",
  title: "A bitcoin node's JSON-RPC",
  prefix: "BITCOIN_",
  settings,
  config,
  identity: (settings) => ({ at: `bitcoin node at ${where(settings)}` }),
  layer,
  blocks: (settings, place) => BitcoinRpc.node({ ...settings, ...anywhere, ...place }),
  unspent: (settings, place) => BitcoinRpc.unspent({ ...settings, ...anywhere, ...place }),
  checks: (settings, place) => [{ subject: "chain", isWatched: true, lines: look(settings, place) }],
  proof: "real nodes on regtest, bitcoind (Bitcoin Knots) and btcd: all contracts and end-to-end scenarios",
  caveats: []
})
