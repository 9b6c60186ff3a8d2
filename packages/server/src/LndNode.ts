import * as Cursor from "@satrail/core/Cursor"
import * as Id from "@satrail/core/Id"
import { Journal } from "@satrail/core/Journal"
import { Network } from "@satrail/core/Network"
import { Records } from "@satrail/core/Records"
import * as Lnd from "@satrail/nodes/Lnd"
import * as LndBooks from "@satrail/nodes/LndBooks"
import * as LndInfo from "@satrail/nodes/LndInfo"
import * as LndRest from "@satrail/nodes/LndRest"
import * as Macaroon from "@satrail/nodes/Macaroon"
import { Clock, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { readFileSync } from "node:fs"
import type { Environment, Lnd as Settings } from "./Environment.ts"

/** lnd cannot be used as it is configured: the message says what to do about it. */
export class LndUnusable extends Schema.TaggedError<LndUnusable>()("LndUnusable", { message: Schema.String }) {}

// Which node the database was begun with. Another one has never heard of the payments in it, and would be asked to make them again.
const source = "lnd"
const Remembered = Schema.fromJsonString(Schema.Struct({ nodeId: Schema.String, network: Network }))

/** Why the node does not say who it is. `isAway`: it may be back in a moment, as it is. */
interface Silence {
  readonly isAway: boolean
  readonly message: string
}

const silenceOf = ({ url, certificateFile }: Settings, words: string): Silence => {
  const at = `lnd at ${url}`
  const away = (message: string) => ({ isAway: true, message })
  const wrong = (message: string) => ({ isAway: false, message })
  if (/ENOENT|EACCES|EISDIR/.test(words)) return wrong(`LND_TLS_CERT cannot be read (${words}). Set it to a copy of lnd's tls.cert.`)
  if (/wallet locked|wallet not created/i.test(words)) {
    return away(`${at} is locked. Unlock its wallet with \`lncli unlock\`, or have it done at every start (wallet-unlock-password-file).`)
  }
  if (/starting up|waiting to start/i.test(words)) return away(`${at} is still starting. Wait until \`lncli getinfo\` answers.`)
  if (/permission denied/i.test(words)) {
    return wrong(`${at} does not let LND_RECEIVER_MACAROON or LND_SENDER_MACAROON ask who it is. Bake both as docs/guides/lnd.md says.`)
  }
  if (/macaroon|verification failed/i.test(words)) {
    return wrong(`${at} does not know the macaroon it was shown (${words}). Bake it on this very node, as docs/guides/lnd.md says.`)
  }
  if (/wrong version number|EPROTO|ERR_SSL/i.test(words))
    return wrong(`What is at ${url} does not speak TLS. Set LND_REST_URL to lnd's restlisten address.`)
  if (/certificate|CERT|SELF_SIGNED|ALTNAME/i.test(words)) {
    const expected =
      certificateFile === undefined
        ? "one that a known authority signed: set LND_TLS_CERT to its tls.cert"
        : `the one in ${certificateFile}`
    return wrong(
      `The certificate of ${at} is not ${expected} (${words}). Copy tls.cert from lnd again; for a name or an address that is not in it, add tlsextradomain or tlsextraip to lnd.conf.`
    )
  }
  if (/that lnd does/.test(words))
    return wrong(`What answers at ${url} is not lnd's REST interface (${words}). Set LND_REST_URL to lnd's restlisten address.`)
  return away(`${at} does not answer (${words}). Start it, or set LND_REST_URL to its restlisten address.`)
}

/** Asks the node who it is. */
const ask = (settings: Settings, macaroon: Redacted.Redacted): Effect.Effect<LndInfo.Identity, Silence> =>
  Effect.mapError(LndInfo.identity(LndRest.make({ ...settings, macaroon })), (error) =>
    silenceOf(settings, error._tag === "Refused" ? error.words : error.cause instanceof Error ? error.cause.message : String(error.cause))
  )

/** A macaroon, in hex or in a file, with all that it must allow. What it allows beyond that is told: a stolen one is worth as much. */
const macaroonOf = Effect.fnUntraced(function* (name: string, given: Redacted.Redacted, needed: ReadonlyArray<Macaroon.Call>) {
  const text = Redacted.value(given)
  const isHex = /^([0-9a-f]{2})+$/i.test(text) && text.length >= 64
  const hex = isHex
    ? text
    : yield* Effect.try({
        try: () => readFileSync(text, "hex"),
        // The path is not repeated: it might be a macaroon with a typing error.
        catch: () => new LndUnusable({ message: `${name} is neither a macaroon in hex nor the path of a file that can be read.` })
      })
  const granted = yield* Effect.mapError(
    Effect.fromResult(Macaroon.permissions(hex)),
    (why) => new LndUnusable({ message: `${name} is not usable: ${why}. It wants a macaroon that \`lncli bakemacaroon\` made.` })
  )
  const missing = Macaroon.missing(granted, needed)
  if (missing.length > 0) {
    return yield* new LndUnusable({
      message: `${name} does not allow what is needed. Bake one with: lncli bakemacaroon ${needed.map(({ uri }) => `uri:${uri}`).join(" ")}\n  missing: ${missing.map(({ uri }) => uri).join(", ")}`
    })
  }
  const excessive = Macaroon.excessive(granted, needed)
  if (excessive.length > 0) yield* Effect.logWarning(`${name} allows more than is needed`, { excessive })
  return Redacted.make(hex, { label: name })
})

/**
 * Which node it is: its own word, or what it said at an earlier start where it is away now. Fails where it is another node than the database's,
 * or on another network than ours, and where nobody has ever asked it.
 */
const identify = Effect.fnUntraced(function* (environment: Environment, settings: Settings, macaroon: Redacted.Redacted) {
  const records = yield* Records
  const journal = yield* Journal
  const stored = Option.getOrUndefined(yield* records.cursor(source))
  const known = stored === undefined ? undefined : yield* Effect.orDie(Schema.decodeUnknownEffect(Remembered)(stored))
  const asked = yield* Effect.result(ask(settings, macaroon))
  if (Result.isFailure(asked)) {
    const { isAway, message } = asked.failure
    if (known === undefined || !isAway) return yield* new LndUnusable({ message })
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
      const node = Layer.merge(
        Lnd.layerReceiver({ url, certificateFile, identity, macaroon: receiver, invoiceSecret }),
        Lnd.layerSender({ url, certificateFile, identity, macaroon: sender })
      )
      if (booksMacaroon === undefined) {
        yield* Effect.logWarning("LND_BOOKS_MACAROON is not set: our books are not compared with lnd's")
        return node
      }
      const macaroon = yield* macaroonOf("LND_BOOKS_MACAROON", booksMacaroon, LndBooks.calls)
      return Layer.merge(node, LndBooks.layer({ url, certificateFile, identity, macaroon }))
    })
  )
