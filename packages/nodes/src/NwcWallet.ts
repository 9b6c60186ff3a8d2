import * as Nostr from "@satrail/bitcoin/Nostr"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import * as Worker from "@satrail/core/base/Worker"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Clock, Data, Deferred, Effect, Exit, Latch, Option, PubSub, Schema, Semaphore } from "effect"
import { randomBytes } from "node:crypto"
import { NotLookedAt } from "./NodeState.ts"
import { wordsOf } from "./Words.ts"

// Somebody's wallet over Nostr Wallet Connect (NIP-47), as an app uses it: an encrypted request at relays, and an answer signed by the wallet's key.

export interface Options {
  /** What the wallet gave its owner: its key, its relays, and the app's secret key. */
  readonly connection: WalletConnect.Connection
  /** How long an answer is waited for; 10 s when absent. */
  readonly deadlineMillis?: number | undefined
}

/** The wallet's own answer: that it did not, and why. */
export class Refused extends Data.TaggedError("Refused")<{ readonly code: string; readonly words: string }> {}

/** How long a request waits for the connection to a relay, and a relay may take to say whether it took one. */
const [connectMillis, publishMillis] = [2_000, 10_000]
/** How far the wallet's clock may be from ours: older events are not asked for. */
const skewSeconds = 600
/** How many requests wait for answers at once, payments apart: wallets allow few. */
const atOnce = 4
/** How many payments wait to be looked up that the wallet has told of. */
const maxNotices = 64

const Notice = Schema.Struct({
  notification_type: Schema.String,
  notification: Schema.Struct({ payment_hash: PaymentHash.PaymentHash })
})

/** What a wallet tells unasked: a payment ended well. A hint, to be looked up. */
export interface Notice {
  readonly type: "payment_received" | "payment_sent"
  readonly paymentHash: PaymentHash.PaymentHash
}

const noticeOf = ({ notification_type: type, notification }: typeof Notice.Type): Notice | undefined =>
  type === "payment_received" || type === "payment_sent" ? { type, paymentHash: notification.payment_hash } : undefined

const unavailable = (operation: string, cause: string) => new NodeUnavailable({ operation, cause })

/** Listens at one relay until its connection ends. */
const listen = (
  relay: string,
  { walletKey, secretKey }: WalletConnect.Connection,
  { begin, end, heard }: { begin: (session: Nostr.Session) => void; end: () => void; heard: (event: Nostr.Event) => void }
) =>
  Effect.gen(function* () {
    const sessions = yield* Nostr.Sessions
    const nowSeconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const filter = {
      kinds: [WalletConnect.kinds.response, WalletConnect.kinds.notification],
      to: Nostr.publicKeyOf(secretKey),
      by: walletKey,
      sinceSeconds: nowSeconds - skewSeconds
    }
    const session = yield* sessions.open(relay, filter)
    yield* Effect.acquireRelease(
      Effect.sync(() => begin(session)),
      () => Effect.sync(end)
    )
    yield* Effect.forever(Effect.map(session.next, heard))
  }).pipe(
    Effect.scoped,
    Effect.catchTag("RelayUnreachable", ({ cause }) => Effect.logInfo(`wallet: ${relay} is away: ${wordsOf(cause)}; connecting again`))
  )

/** The wallet's relays, listened to for as long as the scope is open, and the one way to ask the wallet. */
export const make = Effect.fnUntraced(function* ({ connection, deadlineMillis = 10_000 }: Options) {
  const { walletKey, relays, secretKey } = connection
  const open = new Map<string, Nostr.Session>()
  const isOpen = yield* Latch.make(false)
  const waiting = new Map<string, Deferred.Deferred<WalletConnect.Response>>()
  const notices = yield* PubSub.sliding<Notice>(maxNotices)
  const places = yield* Semaphore.make(atOnce)

  /** Only what the wallet signed counts: a relay sends what it likes. */
  const heard = (event: Nostr.Event): void => {
    const asked = waiting.get(WalletConnect.tagOf(event, "e") ?? "")
    const isAnswer = event.kind === WalletConnect.kinds.response && asked !== undefined
    const isNotice = event.kind === WalletConnect.kinds.notification
    if (event.pubkey !== walletKey || (!isAnswer && !isNotice) || !Nostr.isGenuine(event)) return
    if (isAnswer) {
      const answer = WalletConnect.open(event, secretKey, WalletConnect.Response)
      if (Option.isSome(answer)) Deferred.doneUnsafe(asked, Exit.succeed(answer.value))
    } else {
      const notice = Option.getOrUndefined(Option.map(WalletConnect.open(event, secretKey, Notice), noticeOf))
      if (notice !== undefined) PubSub.publishUnsafe(notices, notice)
    }
  }
  for (const relay of relays) {
    const begin = (session: Nostr.Session) => {
      open.set(relay, session)
      isOpen.openUnsafe()
    }
    const end = () => {
      open.delete(relay)
      if (open.size === 0) isOpen.closeUnsafe()
    }
    yield* Worker.runOpen(`wallet at ${relay}`, listen(relay, connection, { begin, end, heard }), Effect.sleep("1 second"))
  }

  /** A request as one event, which is the same one however often it is sent; after `lifeMillis` the wallet leaves it alone. */
  const request = (method: string, params: object, lifeMillis: number) =>
    Effect.gen(function* () {
      const nowMillis = yield* Clock.currentTimeMillis
      const sealing = { from: secretKey, to: walletKey, atSeconds: Math.floor(nowMillis / 1000), nonce: randomBytes(32) }
      const expiresAtSeconds = Math.floor((nowMillis + lifeMillis) / 1000)
      const event = WalletConnect.request({ method, params }, sealing, expiresAtSeconds)
      return event === undefined
        ? yield* new NotLookedAt({ operation: method, cause: "the wallet's key is no key" })
        : { method, event, expiresAtSeconds }
    })

  /** Whether a relay took it; without a word of the relay's it may have. */
  const offer = (event: Nostr.Event) =>
    Effect.forEach(
      [...open.values()],
      (session) =>
        session.publish(event).pipe(
          Effect.timeout(publishMillis),
          Effect.catch(() => Effect.succeed("unknown" as const))
        ),
      { concurrency: "unbounded" }
    )

  /** The wallet's answer. `NotLookedAt` where no relay took the request; whatever else fails, the wallet may have it. */
  const send = Effect.fnUntraced(function* ({ method, event }: Request, waitMillis: number) {
    const connected = yield* Effect.timeoutOption(isOpen.await, connectMillis)
    if (Option.isNone(connected))
      return yield* new NotLookedAt({ operation: method, cause: "there is no connection to the wallet's relay" })
    const answer = Deferred.makeUnsafe<WalletConnect.Response>()
    waiting.set(event.id, answer)
    const untaken = Effect.flatMap(offer(event), (verdicts) => {
      if (verdicts.includes("taken")) return Effect.never
      const isRefused = verdicts.every((verdict) => verdict === "refused")
      return isRefused
        ? Effect.fail(new NotLookedAt({ operation: method, cause: "the wallet's relay does not take the request" }))
        : Effect.fail(unavailable(method, "the wallet's relay does not say that it took the request"))
    })
    return yield* Effect.raceFirst(Deferred.await(answer), untaken).pipe(
      Effect.timeoutOrElse({
        duration: waitMillis,
        orElse: () => Effect.fail(unavailable(method, `no answer of the wallet within ${waitMillis} ms`))
      }),
      Effect.ensuring(Effect.sync(() => waiting.delete(event.id)))
    )
  })

  return {
    notices,
    request,
    send,
    /** Asks what changes nothing, or may be done twice. */
    ask: <A, I>(method: string, params: object, schema: Schema.Codec<A, I>) =>
      Effect.gen(function* () {
        const { error, result } = yield* send(yield* request(method, params, deadlineMillis), deadlineMillis)
        if (error) return yield* new Refused({ code: error.code, words: (error.message ?? "").slice(0, 200) })
        return yield* Effect.mapError(Schema.decodeUnknownEffect(schema)(result), (problem) => unavailable(method, wordsOf(problem)))
      }).pipe(places.withPermit)
  }
})

export interface Request {
  readonly method: string
  readonly event: Nostr.Event
  readonly expiresAtSeconds: number
}
export type NwcWallet = Effect.Success<ReturnType<typeof make>>

/** Where nothing is asked that the wallet might refuse: a refusal is an outage. */
export const refusal = (operation: string) => (refused: Refused) => Effect.fail(unavailable(operation, `${refused.code}: ${refused.words}`))
