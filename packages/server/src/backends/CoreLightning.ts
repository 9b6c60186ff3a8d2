import type { Network } from "@satrail/bitcoin/Network"
import * as CoreLightning from "@satrail/nodes/CoreLightning"
import * as Versions from "@satrail/nodes/Versions"
import type { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Effect, Layer, type Redacted, Result } from "effect"
import { type Check, type Line, messageOf, misconfigured, outage, right, warning } from "../check/Check.ts"
import { file, origin, type Reader, secret, type Variable } from "../environment/Variable.ts"
import { type Backend, NodeUnusable } from "./Backend.ts"
import * as Remembered from "./Remembered.ts"

interface Settings {
  readonly url: string
  readonly certificateFile: string | undefined
  readonly receiverRune: Redacted.Redacted
  readonly senderRune: Redacted.Redacted
  readonly invoiceSecret: Redacted.Redacted
}

const neededWith = "LIGHTNING=core-lightning"

const variables = {
  url: {
    ...origin,
    name: "CORE_LIGHTNING_URL",
    meaning: `Where Core Lightning's REST plugin is (clnrest); needed with ${neededWith}`,
    wants: "https://host:port; without TLS only on the loopback, such as http://127.0.0.1:3010"
  },
  certificate: {
    ...file,
    name: "CORE_LIGHTNING_TLS_CERT",
    meaning: "The plugin's ca.pem; without one its certificate must be signed by a known authority"
  },
  receiverRune: {
    ...secret("CORE_LIGHTNING_RECEIVER_RUNE"),
    meaning: `What lets us take payments, and nothing else; needed with ${neededWith}`,
    wants: "a rune, as `lightning-cli createrune` makes it"
  },
  senderRune: {
    ...secret("CORE_LIGHTNING_SENDER_RUNE"),
    meaning: `What lets us pay, and nothing else; needed with ${neededWith}`,
    wants: "a rune, as `lightning-cli createrune` makes it"
  },
  invoiceSecret: {
    ...secret("CORE_LIGHTNING_INVOICE_SECRET", /^[!-~]{32,}$/),
    meaning: `What the preimages of our invoices and the key that seals stored answers are derived from; the same for ever and in all processes, and needed with ${neededWith}`,
    wants: "at least 32 characters without spaces, such as `openssl rand -hex 32` prints"
  }
}

const read = ({ optional, neededFor }: Reader): Settings => {
  const needed = <A>(variable: Variable<A>) => neededFor(true, neededWith, variable)
  return {
    url: needed(variables.url),
    certificateFile: optional(variables.certificate),
    receiverRune: needed(variables.receiverRune),
    senderRune: needed(variables.senderRune),
    invoiceSecret: needed(variables.invoiceSecret)
  }
}

const atOf = ({ url }: Settings) => `Core Lightning at ${url}`

const silence = ({ url }: Settings, { cause }: NodeUnavailable) =>
  [
    `Core Lightning does not answer at ${url}: ${messageOf(cause)}`,
    "Start it with its clnrest plugin, or set CORE_LIGHTNING_URL to where that is."
  ] as const

/** Core Lightning, taking payments and paying. Begins only while the node answers: only it can say whose invoices these are. */
const layer = (network: Network, settings: Settings) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { url, certificateFile, receiverRune, senderRune, invoiceSecret } = settings
      const unusable = (unavailable: NodeUnavailable) => new NodeUnusable({ message: `${silence(settings, unavailable).join(". ")}` })
      const receiver = { url, certificateFile, rune: receiverRune }
      const place = { source: "core-lightning", at: atOf(settings), setting: "CORE_LIGHTNING_URL" }
      const found = yield* Effect.mapError(CoreLightning.identity(receiver), unusable)
      const { nodeId } = yield* Remembered.confirm(place, network, yield* Remembered.known(place), found)
      return Layer.merge(
        Layer.catchTag(CoreLightning.layerReceiver({ ...receiver, invoiceSecret }), "NodeUnavailable", (away) =>
          Layer.effectContext(unusable(away))
        ),
        CoreLightning.layerSender({ url, certificateFile, rune: senderRune, nodeId })
      )
    })
  )

const unproven: ReadonlyArray<Line> = [
  warning(
    "Core Lightning was never tried with a real node here: its adapter is tested against a stand-in of it",
    "Begin on signet or regtest, with little money."
  ),
  warning("our books are not compared with Core Lightning's", "Compare balances yourself, or use lnd."),
  warning("Core Lightning makes no invoices for Lightning addresses and LNURL: it hashes descriptions itself", "Use lnd if you need them.")
]

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
      const [says, remedy] = silence(settings, answer.failure)
      return outage(`${says} (asked with ${name})`, remedy)
    }
    const { nodeId, network: theirs, version } = answer.success
    return theirs === network
      ? right(`${atOf(settings)}, ${version}, ${nodeId.slice(0, 16)}…, on ${theirs}, takes ${name}`)
      : misconfigured(`${atOf(settings)} is on ${theirs}, and SATRAIL_NETWORK is ${network}`, "Set both to the same network.")
  })
  const [found] = asked.flatMap(([, answer]) => (Result.isSuccess(answer) ? [answer.success] : []))
  const fault = found && Versions.warning("Core Lightning", found.version)
  return [...lines, ...(fault === undefined ? [] : [warning(fault, "Money that a node loses is the operator's loss.")]), ...unproven]
})

const check = (network: Network, settings: Settings): Check => ({
  subject: "Core Lightning",
  isWatched: true,
  lines: look(network, settings)
})

export const backend: Backend = {
  name: "core-lightning",
  variables,
  read: (reader) => {
    const settings = read(reader)
    return {
      name: "core-lightning",
      at: atOf(settings),
      invoiceSecret: settings.invoiceSecret,
      settings,
      layer: (network) => layer(network, settings),
      check: (network) => check(network, settings)
    }
  }
}
