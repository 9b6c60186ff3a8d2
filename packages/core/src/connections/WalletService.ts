import * as Nostr from "@satrail/bitcoin/Nostr"
import * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import { Clock, Effect, Layer, Option, Semaphore } from "effect"
import * as Worker from "../base/Worker.ts"
import * as Duties from "../ledger/Duties.ts"
import * as WalletConnections from "./WalletConnections.ts"
import * as WalletMethods from "./WalletMethods.ts"
import * as WalletRequests from "./WalletRequests.ts"

/** How many requests of one relay are worked on at once: more wait there. */
export const atOnce = 64

const connectMillis = 15_000
const publishMillis = 10_000

/**
 * Listens at one relay until its connection ends. Requests that were sent while nobody listened are asked for again, and were answered before where the answer did not
 * arrive: then they are answered the same.
 */
const listen = (
  relay: string,
  { walletKey, answer }: Effect.Success<ReturnType<typeof WalletRequests.make>>,
  info: (seconds: number) => Nostr.Event
) =>
  Effect.gen(function* () {
    const sessions = yield* Nostr.Sessions
    const places = yield* Semaphore.make(atOnce)
    const nowSeconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const filter = { kinds: [WalletConnect.kinds.request], to: walletKey, sinceSeconds: nowSeconds - WalletRequests.maxAgeSeconds }
    const session = yield* sessions.open(relay, filter).pipe(
      Effect.timeoutOrElse({
        duration: connectMillis,
        orElse: () => Effect.fail(new Nostr.RelayUnreachable({ relay, cause: new Error(`no connection within ${connectMillis} ms`) }))
      })
    )
    const publish = (event: Nostr.Event) =>
      session.publish(event).pipe(
        Effect.timeoutOption(publishMillis),
        Effect.tap((taken) =>
          Option.isSome(taken) && taken.value === "taken"
            ? Effect.void
            : Effect.logInfo("wallet connect: an answer was not taken by the relay")
        ),
        // The connection has ended, which whoever listens notices.
        Effect.catchTag("RelayUnreachable", () => Effect.void)
      )
    yield* publish(info(nowSeconds))
    const one = (event: Nostr.Event) =>
      answer(event).pipe(
        Effect.flatMap(Option.match({ onNone: () => Effect.void, onSome: publish })),
        Effect.catchTag("StoreUnavailable", (outage) => Effect.logWarning("wallet connect: a request could not be read", outage)),
        Effect.annotateLogs({ relay })
      )
    const next = Effect.andThen(
      places.take(1),
      Effect.flatMap(session.next, (event) => Effect.forkScoped(Effect.ensuring(one(event), places.release(1))))
    )
    yield* Effect.catchTag(Effect.forever(next), "RelayUnreachable", (ended) =>
      Effect.logInfo("wallet connect: the relay's connection ended; connecting again", ended)
    )
  }).pipe(Effect.scoped, Effect.annotateLogs({ relay }))

/** Answers apps for as long as the scope is open, in one process of all, where there is a place for it. Needs `Nostr.Sessions`. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const place = yield* WalletConnections.Place
    if (place === undefined) return
    const requests = yield* WalletRequests.make(place.secretKey)
    const info = (seconds: number) => WalletConnect.info(WalletMethods.names, [], seconds, place.secretKey)
    yield* Duties.run("wallet connect", () =>
      Effect.forEach(
        place.relays,
        (relay) => Worker.runOpen(`wallet connect at ${relay}`, listen(relay, requests, info), Effect.sleep("1 second")),
        { discard: true }
      )
    )
  })
)
