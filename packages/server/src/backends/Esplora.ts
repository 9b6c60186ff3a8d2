import type { Network } from "@satrail/bitcoin/Network"
import * as Esplora from "@satrail/chain/Esplora"
import type { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import { type Config, Effect, Option } from "effect"
import { certificate } from "../base/Certificate.ts"
import { applying, type Line, messageOf, misconfigured, outage, right, warning } from "../base/Check.ts"
import * as Setting from "../environment/Setting.ts"
import * as ChainView from "./ChainView.ts"

const settings = {
  url: Setting.neededWith("CHAIN=esplora")({
    name: "ESPLORA_URL",
    meaning: "The address of an Esplora server's API",
    ...Setting.httpUrl
  }),
  certificateFile: ChainView.certificateFile
}

const config = Setting.all(settings)

interface Settings extends Config.Success<typeof config> {}

const where = ({ url }: Settings) => new URL(url).origin

/** The first block of each network. Testnet exists in two versions, testnet3 and testnet4. */
const genesis: { readonly [network in Network]: ReadonlyArray<string> } = {
  mainnet: ["000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"],
  testnet: [
    "000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943",
    "00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043"
  ],
  signet: ["00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6"],
  regtest: ["0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"]
}

const isLoopback = (url: string) => /^(?:localhost|127\..*|\[::1\])$/.test(new URL(url).hostname)

const silent = ({ cause, reason, remedy }: ChainUnavailable): Line =>
  outage(
    `the Esplora server cannot be used: ${reason ?? messageOf(cause)}`,
    remedy ?? "Check ESPLORA_URL, and that the server is running."
  )

const look = Effect.fnUntraced(
  function* (
    settings: Settings,
    from: ChainView.Place
  ): Effect.fn.Return<ReadonlyArray<Line>, ChainUnavailable> {
    const { network } = from
    const unreadable = certificate(settings.certificateFile)
    if (unreadable !== undefined) return [unreadable]
    const node = Esplora.node({ ...settings, ...from, patienceMillis: ChainView.lookMillis })
    const first = Option.getOrUndefined(yield* node.hashAt(0))
    const place = where(settings)
    if (first === undefined)
      return [
        misconfigured(
          `the server at ${place} is not an Esplora server`,
          "Set ESPLORA_URL to the address of its API, which often ends in /api."
        )
      ]
    const theirs = Object.entries(genesis).find(([, hashes]) => hashes.includes(first))?.[0]
    if (theirs !== network)
      return [
        misconfigured(
          `the Esplora server is on ${theirs ?? "another network"}, but SATRAIL_NETWORK is ${network}`,
          "Set ESPLORA_URL to a server on the same network."
        )
      ]
    const tip = yield* node.tip
    return applying([
      right(`the Esplora server at ${place} is on ${network}, at block ${tip.height}`),
      settings.url.startsWith("http:") &&
        !isLoopback(settings.url) &&
        warning(
          "the Esplora server is used without TLS: an attacker on the network path can forge deposits",
          "Use https, or a server on this machine."
        )
    ])
  },
  Effect.catch((error) => Effect.succeed([silent(error)]))
)

export const backend = ChainView.make({
  name: "esplora",
  title: "An Esplora server",
  prefix: "ESPLORA_",
  settings,
  config,
  identity: (settings) => ({ at: `Esplora at ${where(settings)}` }),
  layer: (settings, from) => Esplora.layer({ ...settings, ...from }),
  blocks: (settings, place) => Esplora.node({ ...settings, ...place }),
  unspent: (settings, place) => Esplora.unspent({ ...settings, ...place }),
  checks: (settings, place) => [{ subject: "chain", isWatched: true, lines: look(settings, place) }],
  proof: "a mock server, written from Esplora's API.md",
  caveats: [
    {
      says: "Esplora is untested with a real server: its adapter is tested with a mock server",
      remedy: "Start on signet or regtest, with small amounts, or use CHAIN=bitcoin-rpc."
    }
  ]
})
