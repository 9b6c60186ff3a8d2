import type { Network } from "@satrail/bitcoin/Network"
import * as Outage from "@satrail/core/base/Outage"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import * as Lnd from "@satrail/nodes/Lnd"
import * as LndBooks from "@satrail/nodes/LndBooks"
import * as LndInfo from "@satrail/nodes/LndInfo"
import * as LndOutage from "@satrail/nodes/LndOutage"
import * as LndRest from "@satrail/nodes/LndRest"
import type * as Macaroon from "@satrail/nodes/Macaroon"
import * as NodeState from "@satrail/nodes/NodeState"
import { Effect, Layer, type Redacted, Result } from "effect"
import { NodeUnusable } from "./Backend.ts"
import * as LndMacaroon from "./LndMacaroon.ts"
import type { Settings } from "./LndSettings.ts"
import * as Remembered from "./Remembered.ts"

/** What a remedy calls the settings. */
const names = (macaroon: string) => ({ url: "LND_REST_URL", certificateFile: "LND_TLS_CERT", macaroon })

/** Asks the node who it is. */
const ask = ({ url, certificateFile }: Settings, macaroon: Redacted.Redacted): Effect.Effect<LndInfo.Identity, NodeUnavailable> => {
  const rest = LndRest.make({ url, certificateFile, macaroon, names: names("LND_RECEIVER_MACAROON"), state: NodeState.quiet })
  const refused = ({ words }: LndRest.Refused) =>
    Effect.fail(
      new NodeUnavailable({ operation: "identity", cause: words, reason: LndOutage.reasons.other, remedy: `${url} answers: ${words}.` })
    )
  return Effect.catchTag(LndInfo.identity(rest), "Refused", refused)
}

/** A macaroon, with all that it must allow. What it allows beyond that, a check of the start tells (check/Lnd.ts). */
const macaroonOf = Effect.fnUntraced(function* (name: string, given: Redacted.Redacted, needed: ReadonlyArray<Macaroon.Call>) {
  const { hex } = yield* Effect.mapError(
    Effect.fromResult(LndMacaroon.read(name, given, needed)),
    (message) => new NodeUnusable({ message })
  )
  return hex
})

/**
 * Which node it is: its own word, or what it said at an earlier start where it is away now. Fails where it is another node than the database's,
 * or on another network than ours, and where nobody has ever asked it.
 */
const identify = Effect.fnUntraced(function* (network: Network, settings: Settings, macaroon: Redacted.Redacted) {
  const place = { source: "lnd", at: `lnd at ${settings.url}`, setting: "LND_REST_URL" }
  const known = yield* Remembered.known(place)
  const asked = yield* Effect.result(ask(settings, macaroon))
  if (Result.isSuccess(asked)) return yield* Remembered.confirm(place, network, known, asked.success)
  const outage = asked.failure
  const message = Outage.text(outage) ?? String(outage.cause)
  if (known === undefined || LndOutage.isWrong(outage.reason)) return yield* new NodeUnusable({ message })
  yield* Effect.logWarning(`${message} Until then nothing can be paid to it, and what is to be paid waits.`)
  return known
})

/** lnd as the environment describes it, taking payments and paying. Starts also while the node is away, if it was there before. */
export const layer = (network: Network, settings: Settings) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const receiver = yield* macaroonOf("LND_RECEIVER_MACAROON", settings.receiverMacaroon, Lnd.receiverCalls)
      const sender = yield* macaroonOf("LND_SENDER_MACAROON", settings.senderMacaroon, Lnd.senderCalls)
      const identity = yield* identify(network, settings, receiver)
      const { url, certificateFile, invoiceSecret, booksMacaroon } = settings
      const shared = { url, certificateFile, identity, state: NodeState.make("lnd") }
      const node = Layer.merge(
        Lnd.layerReceiver({ ...shared, names: names("LND_RECEIVER_MACAROON"), macaroon: receiver, invoiceSecret }),
        Lnd.layerSender({ ...shared, names: names("LND_SENDER_MACAROON"), macaroon: sender })
      )
      if (booksMacaroon === undefined) return node
      const macaroon = yield* macaroonOf("LND_BOOKS_MACAROON", booksMacaroon, LndBooks.calls)
      return Layer.merge(node, LndBooks.layer({ ...shared, names: names("LND_BOOKS_MACAROON"), macaroon }))
    })
  )
