import * as BitcoinRpc from "@satrail/chain/BitcoinRpc"
import { Effect, References, Result } from "effect"
import type { Chain, Environment } from "../Environment.ts"
import { certificate } from "./Certificate.ts"
import { type Check, messageOf, misconfigured, outage, right } from "./Check.ts"

const settings = "Look at BITCOIN_RPC_URL, BITCOIN_RPC_USER, BITCOIN_RPC_PASSWORD and SATRAIL_NETWORK."

const look = Effect.fnUntraced(function* ({ network }: Environment, source: Chain["source"] & { readonly _tag: "BitcoinRpc" }) {
  const unreadable = certificate(source.certificateFile)
  if (unreadable !== undefined) return [unreadable]
  const options = { ...source, network, beginning: { height: 0 }, patienceMillis: 4000 }
  // What it would warn of in a log is a line here.
  const usable = yield* Effect.result(Effect.provideService(BitcoinRpc.check(options), References.MinimumLogLevel, "None"))
  if (Result.isFailure(usable)) return [misconfigured(usable.failure.message, settings)]
  const standing = yield* Effect.result(BitcoinRpc.standing(options))
  if (Result.isFailure(standing)) {
    const { cause, reason, remedy } = standing.failure
    return [
      outage(`the bitcoin node does not serve us: ${reason ?? messageOf(cause)}`, remedy ?? "Start it, or wait until it has caught up.")
    ]
  }
  const { tip, index } = standing.success
  return [
    right(`the bitcoin node at ${new URL(source.url).origin} is on ${network}, at block ${tip.height}`),
    index?.isSynced === false
      ? outage(
          `the bitcoin node is indexing its transactions: block ${index.height} of ${tip.height}`,
          "Wait: deposits stay pending until it has."
        )
      : right("it keeps an index of transactions")
  ]
})

/** A bitcoin node, as CHAIN=bitcoin-rpc asks it. */
export const check = (environment: Environment, source: Chain["source"] & { readonly _tag: "BitcoinRpc" }): Check => ({
  subject: "chain",
  isWatched: true,
  lines: look(environment, source)
})
