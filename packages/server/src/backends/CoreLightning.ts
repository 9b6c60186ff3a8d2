import type { Network } from "@satrail/bitcoin/Network"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import * as Versions from "@satrail/core/nodes/Versions"
import * as CoreLightning from "@satrail/nodes/CoreLightning"
import { type Config, Effect, Layer, Result } from "effect"
import { type Line, messageOf, misconfigured, outage, right } from "../check/Check.ts"
import * as Setting from "../environment/Setting.ts"
import * as KnownFaults from "./KnownFaults.ts"
import * as LightningNode from "./LightningNode.ts"
import type { Identity } from "./LightningNode.ts"
import { NodeUnusable } from "./NodeUnusable.ts"
import type * as Remembered from "./Remembered.ts"

const needed = Setting.neededWith("LIGHTNING=core-lightning")
const rune = Setting.secret("a rune, as `lightning-cli createrune` makes it")

const settings = {
  url: needed({
    name: "CORE_LIGHTNING_URL",
    meaning: "Where Core Lightning's REST plugin is (clnrest)",
    ...Setting.origin("https://host:port; without TLS only on the loopback, such as http://127.0.0.1:3010")
  }),
  certificateFile: Setting.optional({
    name: "CORE_LIGHTNING_TLS_CERT",
    meaning: "The plugin's ca.pem; without one its certificate must be signed by a known authority",
    ...Setting.file
  }),
  receiverRune: needed({ name: "CORE_LIGHTNING_RECEIVER_RUNE", meaning: "Permits receiving payments, and nothing else", ...rune }),
  senderRune: needed({ name: "CORE_LIGHTNING_SENDER_RUNE", meaning: "Permits sending payments, and nothing else", ...rune }),
  invoiceSecret: needed({
    name: "CORE_LIGHTNING_INVOICE_SECRET",
    meaning:
      "The secret from which the preimages of invoices and the key of stored responses are derived; never change it, and use the same in all processes",
    ...Setting.invoiceSecret
  })
}

const config = Setting.all(settings)

interface Settings extends Config.Success<typeof config> {}

const atOf = ({ url }: Settings) => `Core Lightning at ${url}`

const silence = ({ url }: Settings, { cause }: NodeUnavailable) => ({
  reason: `Core Lightning does not answer at ${url}: ${messageOf(cause)}`,
  remedy: "Start it with its clnrest plugin, or set CORE_LIGHTNING_URL to where that is."
})

const identity = (settings: Settings): Identity => {
  const { url, certificateFile, receiverRune, invoiceSecret } = settings
  return {
    source: "core-lightning",
    at: atOf(settings),
    setting: "CORE_LIGHTNING_URL",
    // Only it can say whose invoices these are.
    mayBeAway: () => false,
    ask: Effect.mapError(
      CoreLightning.identity({ url, certificateFile, rune: receiverRune }),
      (away) => new NodeUnavailable({ operation: away.operation, cause: away.cause, ...silence(settings, away) })
    ),
    invoiceSecret
  }
}

/** Core Lightning, taking payments and paying. Begins only while the node answers. */
const layer = (settings: Settings, { nodeId }: Remembered.Identity) => {
  const { url, certificateFile, receiverRune, senderRune, invoiceSecret } = settings
  const receiver = CoreLightning.layerReceiver({ url, certificateFile, rune: receiverRune, invoiceSecret })
  const unusable = (away: NodeUnavailable) => {
    const { reason, remedy } = silence(settings, away)
    return Layer.effectContext(new NodeUnusable({ message: `${reason}. ${remedy}` }))
  }
  return Layer.merge(
    Layer.catchTag(receiver, "NodeUnavailable", unusable),
    CoreLightning.layerSender({ url, certificateFile, rune: senderRune, nodeId })
  )
}

const look = Effect.fnUntraced(function* (network: Network, settings: Settings) {
  const { url, certificateFile, receiverRune, senderRune } = settings
  const runes = [
    ["CORE_LIGHTNING_RECEIVER_RUNE", receiverRune],
    ["CORE_LIGHTNING_SENDER_RUNE", senderRune]
  ] as const
  const asked = yield* Effect.forEach(runes, ([name, rune]) =>
    Effect.map(
      Effect.result(CoreLightning.identity({ url, certificateFile, rune, deadlineMillis: 4000 })),
      (answer) => [name, answer] as const
    )
  )
  const lines = asked.map(([name, answer]): Line => {
    if (Result.isFailure(answer)) {
      const { reason, remedy } = silence(settings, answer.failure)
      return outage(`${reason} (called with ${name})`, remedy)
    }
    const { nodeId, network: theirs, version } = answer.success
    return theirs === network
      ? right(`${atOf(settings)}, ${version}, ${nodeId.slice(0, 16)}…, on ${theirs}, takes ${name}`)
      : misconfigured(`${atOf(settings)} is on ${theirs}, and SATRAIL_NETWORK is ${network}`, "Set both to the same network.")
  })
  const [found] = asked.flatMap(([, answer]) => (Result.isSuccess(answer) ? [answer.success] : []))
  return [...lines, ...KnownFaults.lines(found && Versions.judge("Core Lightning", found.version), undefined)]
})

export const backend = LightningNode.make({
  name: "core-lightning",
  title: "Core Lightning",
  prefix: "CORE_LIGHTNING_",
  settings,
  config,
  identity,
  layer,
  checks: (settings, network) => [{ subject: "Core Lightning", isWatched: true, lines: look(network, settings) }],
  proof: "a stand-in, written from its documentation",
  caveats: [
    {
      says: "Core Lightning is untested with a real node: its adapter is tested against a stand-in",
      remedy: "Begin on signet or regtest, with little money."
    },
    { says: "there is no reconciliation with Core Lightning", remedy: "Compare balances yourself, or use lnd." },
    {
      says: "Core Lightning makes no invoices for Lightning addresses and LNURL: it hashes descriptions itself",
      remedy: "Use lnd if you need them."
    }
  ]
})
