import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import * as Lnd from "@satrail/nodes/Lnd"
import * as LndBooks from "@satrail/nodes/LndBooks"
import * as LndInfo from "@satrail/nodes/LndInfo"
import * as LndOutage from "@satrail/nodes/LndOutage"
import * as LndRest from "@satrail/nodes/LndRest"
import type * as Macaroon from "@satrail/nodes/Macaroon"
import * as NodeState from "@satrail/nodes/NodeState"
import { Effect, Layer, type Redacted } from "effect"
import type { Identity } from "./LightningNode.ts"
import * as LndMacaroon from "./LndMacaroon.ts"
import type { Settings } from "./LndSettings.ts"
import { NodeUnusable } from "./NodeUnusable.ts"

/** The settings' names used in remedies. */
const names = (macaroon: string) => ({ url: "LND_REST_URL", certificateFile: "LND_TLS_CERT", macaroon })

const ask = (
  { url, certificateFile }: Settings,
  macaroon: Redacted.Redacted
): Effect.Effect<LndInfo.Identity, NodeUnavailable> => {
  const rest = LndRest.make({
    url,
    certificateFile,
    macaroon,
    names: names("LND_RECEIVER_MACAROON"),
    state: NodeState.quiet
  })
  const refused = ({ words }: LndRest.Refused) =>
    Effect.fail(
      new NodeUnavailable({
        operation: "identity",
        cause: words,
        reason: LndOutage.reasons.other,
        remedy: `${url} returned: ${words}.`
      })
    )
  return Effect.catchTag(LndInfo.identity(rest), "Refused", refused)
}

/**
 * Returns a macaroon, and fails if it lacks a required permission. Excessive permissions are reported by the
 * check at startup (LndCheck.ts).
 */
const macaroonOf = Effect.fnUntraced(function* (
  name: string,
  given: Redacted.Redacted,
  needed: ReadonlyArray<Macaroon.Call>
) {
  const { hex } = yield* Effect.mapError(
    Effect.fromResult(LndMacaroon.read(name, given, needed)),
    (message) => new NodeUnusable({ message })
  )
  return hex
})

/**
 * Both macaroons must be valid before lnd's identity is read, because waiting doesn't fix an invalid macaroon.
 */
const macaroonsOf = ({ receiverMacaroon, senderMacaroon }: Settings) =>
  Effect.all({
    receiver: macaroonOf("LND_RECEIVER_MACAROON", receiverMacaroon, Lnd.receiverCalls),
    sender: macaroonOf("LND_SENDER_MACAROON", senderMacaroon, Lnd.senderCalls)
  })

export const identity = (settings: Settings): Identity => ({
  source: "lnd",
  at: `lnd at ${settings.url}`,
  setting: "LND_REST_URL",
  mayBeAway: ({ reason }) => !LndOutage.isWrong(reason),
  ask: Effect.flatMap(macaroonsOf(settings), ({ receiver }) => ask(settings, receiver)),
  invoiceSecret: settings.invoiceSecret
})

/**
 * Receives and sends payments with the configured lnd. Starts even if the node is unreachable, provided its
 * identity was stored by an earlier start.
 */
export const layer = (settings: Settings, identity: LndInfo.Identity) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { receiver, sender } = yield* macaroonsOf(settings)
      const { url, certificateFile, invoiceSecret, booksMacaroon, receiverMacaroon } = settings
      const holds = LndMacaroon.holds(LndMacaroon.receiverCalls("LND_RECEIVER_MACAROON", receiverMacaroon))
      const shared = { url, certificateFile, identity, state: NodeState.make("lnd") }
      const node = Layer.merge(
        Lnd.layerReceiver({
          ...shared,
          names: names("LND_RECEIVER_MACAROON"),
          macaroon: receiver,
          invoiceSecret,
          holds
        }),
        Lnd.layerSender({ ...shared, names: names("LND_SENDER_MACAROON"), macaroon: sender })
      )
      if (booksMacaroon === undefined) return node
      const macaroon = yield* macaroonOf("LND_BOOKS_MACAROON", booksMacaroon, LndBooks.calls)
      return Layer.merge(node, LndBooks.layer({ ...shared, names: names("LND_BOOKS_MACAROON"), macaroon }))
    })
  )
