import type { Network } from "@satrail/bitcoin/Network"
import * as Esplora from "@satrail/chain/Esplora"
import type { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import { Clock, Effect, Option } from "effect"
import type { Chain, Environment } from "../Environment.ts"
import { certificate } from "./Certificate.ts"
import { type Check, type Line, messageOf, misconfigured, outage, right, warning } from "./Check.ts"

/** The first block of each network: of testnet there are two, the third and the fourth. */
const genesis: { readonly [network in Network]: ReadonlyArray<string> } = {
  mainnet: ["000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"],
  testnet: [
    "000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943",
    "00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043"
  ],
  signet: ["00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6"],
  regtest: ["0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"]
}

/** A block takes ten minutes on average, and one in a million takes longer than this. */
const staleMillis = 3 * 3_600_000

const isLoopback = (url: string) => /^(?:localhost|127\..*|\[::1\])$/.test(new URL(url).hostname)

const silent = ({ cause, reason, remedy }: ChainUnavailable): Line =>
  outage(
    `the Esplora server does not answer: ${reason ?? messageOf(cause)}`,
    remedy ?? "Look at ESPLORA_URL, and whether the server is there."
  )

const look = Effect.fnUntraced(
  function* (
    { network }: Environment,
    source: Chain["source"] & { readonly _tag: "Esplora" }
  ): Effect.fn.Return<ReadonlyArray<Line>, ChainUnavailable> {
    const unreadable = certificate(source.certificateFile)
    if (unreadable !== undefined) return [unreadable]
    const node = Esplora.node({ ...source, patienceMillis: 4000 })
    const first = Option.getOrUndefined(yield* node.hashAt(0))
    const place = new URL(source.url).origin
    if (first === undefined)
      return [
        misconfigured(`what answers at ${place} is no Esplora server`, "Set ESPLORA_URL to where its API is, often with /api at the end.")
      ]
    const theirs = Object.entries(genesis).find(([, hashes]) => hashes.includes(first))?.[0]
    if (theirs !== network)
      return [
        misconfigured(
          `the Esplora server is on ${theirs ?? "another network"}, and SATRAIL_NETWORK is ${network}`,
          "Set ESPLORA_URL to one of the same network."
        )
      ]
    const tip = yield* node.tip
    const ageMillis = (yield* Clock.currentTimeMillis) - (yield* node.timeSecondsAt(tip.height)) * 1000
    return [
      right(`the Esplora server at ${place} is on ${network}, at block ${tip.height}`),
      ...(network !== "regtest" && ageMillis > staleMillis
        ? [
            outage(
              `its last block is ${Math.round(ageMillis / 3_600_000)} hours old: its index is behind, or its node is`,
              "Use another server until it has caught up."
            )
          ]
        : []),
      ...(source.url.startsWith("http:") && !isLoopback(source.url)
        ? [
            warning(
              "the Esplora server is asked without TLS: whoever is in between can make up deposits",
              "Use https, or a server on this machine."
            )
          ]
        : [])
    ]
  },
  Effect.catch((error) => Effect.succeed([silent(error)]))
)

/** An Esplora server, as CHAIN=esplora asks it. */
export const check = (environment: Environment, source: Chain["source"] & { readonly _tag: "Esplora" }): Check => ({
  subject: "chain",
  isWatched: true,
  lines: look(environment, source)
})
