import { Network } from "@satrail/bitcoin/Network"
import * as Id from "@satrail/core/base/Id"
import * as Outage from "@satrail/core/base/Outage"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import * as Lnd from "@satrail/nodes/Lnd"
import * as LndBooks from "@satrail/nodes/LndBooks"
import * as LndInfo from "@satrail/nodes/LndInfo"
import * as LndOutage from "@satrail/nodes/LndOutage"
import * as LndRest from "@satrail/nodes/LndRest"
import type * as Macaroon from "@satrail/nodes/Macaroon"
import * as NodeState from "@satrail/nodes/NodeState"
import { Clock, Effect, Layer, Option, type Redacted, Result, Schema } from "effect"
import type { Environment, Lnd as Settings } from "./Environment.ts"
import * as LndMacaroon from "./LndMacaroon.ts"

/** lnd cannot be used as it is configured: the message says what to do about it. */
export class LndUnusable extends Schema.TaggedError<LndUnusable>()("LndUnusable", { message: Schema.String }) {}

// Which node the database was begun with. Another one has never heard of the payments in it, and would be asked to make them again.
const source = "lnd"
const Remembered = Schema.fromJsonString(Schema.Struct({ nodeId: Schema.String, network: Network }))

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
    (message) => new LndUnusable({ message })
  )
  return hex
})

/**
 * Which node it is: its own word, or what it said at an earlier start where it is away now. Fails where it is another node than the database's,
 * or on another network than ours, and where nobody has ever asked it.
 */
const identify = Effect.fnUntraced(function* (environment: Environment, settings: Settings, macaroon: Redacted.Redacted) {
  const records = yield* LedgerReads
  const journal = yield* Journal
  const stored = Option.getOrUndefined(yield* records.cursor(source))
  const known = stored === undefined ? undefined : yield* Effect.orDie(Schema.decodeUnknownEffect(Remembered)(stored))
  const asked = yield* Effect.result(ask(settings, macaroon))
  if (Result.isFailure(asked)) {
    const outage = asked.failure
    const message = Outage.text(outage) ?? String(outage.cause)
    if (known === undefined || LndOutage.isWrong(outage.reason)) return yield* new LndUnusable({ message })
    yield* Effect.logWarning(`${message} Until then nothing can be paid to it, and what is to be paid waits.`)
    return known
  }
  const found = asked.success
  if (found.network !== environment.network) {
    return yield* new LndUnusable({
      message: `lnd at ${settings.url} is on ${found.network}, and SATRAIL_NETWORK is ${environment.network}. Set both to the same network.`
    })
  }
  if (known !== undefined && known.nodeId !== found.nodeId) {
    return yield* new LndUnusable({
      message: `The database was begun with the node ${known.nodeId}, and lnd at ${settings.url} is ${found.nodeId}. Set LND_REST_URL to the first, or begin with an empty database.`
    })
  }
  if (known === undefined) {
    const value = JSON.stringify(found)
    yield* journal.commit(Cursor.moved({ source, value }, yield* Id.make, yield* Clock.currentTimeMillis))
  }
  return found
})

/** lnd as the environment describes it, taking payments and paying. Starts also while the node is away, if it was there before. */
export const layer = (environment: Environment, settings: Settings) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const receiver = yield* macaroonOf("LND_RECEIVER_MACAROON", settings.receiverMacaroon, Lnd.receiverCalls)
      const sender = yield* macaroonOf("LND_SENDER_MACAROON", settings.senderMacaroon, Lnd.senderCalls)
      const identity = yield* identify(environment, settings, receiver)
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
