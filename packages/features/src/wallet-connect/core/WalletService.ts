import * as Nostr from "@satrail/bitcoin/Nostr"
import * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import { Clock, Effect, Layer, Option, Queue, Semaphore } from "effect"
import * as Worker from "@satrail/core/base/Worker"
import { Tail } from "@satrail/core/events/Tail"
import * as Duties from "@satrail/core/ledger/Duties"
import { EventStore } from "@satrail/core/ledger/EventStore"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import * as WalletConnections from "./WalletConnections.ts"
import * as WalletMethods from "./WalletMethods.ts"
import * as WalletNotices from "./WalletNotices.ts"
import * as WalletPayments from "./WalletPayments.ts"
import * as WalletRequests from "./WalletRequests.ts"

/**
 * Maximum number of requests from one relay processed at a time. More wait at the relay. Requests that wait for a
 * payment do not count, because `WalletRequests.atOnce` and `verified` limit their number for each app.
 */
export const atOnce = 64

const connectMillis = 15_000
const publishMillis = 10_000
const pageSize = 200
/**
 * Maximum number of notifications that are sent to one relay at a time, and that wait for it. The oldest ones of a relay
 * that is too slow are dropped. Otherwise, it would delay those of all other relays.
 */
const notices = { atOnce: 16, waiting: 10_000 } as const

/**
 * Sends an event to a relay. If the connection has ended, its listener handles that. If the relay is too busy,
 * the app has to look up the result.
 */
const publish = (session: Nostr.Session, event: Nostr.Event) =>
  session.publish(event).pipe(
    Effect.timeoutOption(publishMillis),
    Effect.tap((taken) =>
      Option.isSome(taken) && taken.value === "taken"
        ? Effect.void
        : Effect.logInfo("wallet connect: event not accepted by the relay")
    ),
    Effect.catchTag("RelayUnreachable", () => Effect.void)
  )

/** Notifications that wait for each relay currently connected. */
type Open = Map<string, Queue.Queue<Nostr.Event>>

/**
 * Listens to one relay until the connection ends. Starts with recent requests, which may have been missed or
 * handled before. A request that was already handled gets the same response again.
 */
const listen = (
  relay: string,
  open: Open,
  { walletKey, answer }: Effect.Success<ReturnType<typeof WalletRequests.make>>,
  info: (seconds: number) => Nostr.Event
) =>
  Effect.gen(function* () {
    const sessions = yield* Nostr.Sessions
    const places = yield* Semaphore.make(atOnce)
    const nowSeconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const filter = {
      kinds: [WalletConnect.kinds.request],
      to: walletKey,
      sinceSeconds: nowSeconds - WalletRequests.maxAgeSeconds
    }
    const session = yield* sessions.open(relay, filter).pipe(
      Effect.timeoutOrElse({
        duration: connectMillis,
        orElse: () =>
          Effect.fail(
            new Nostr.RelayUnreachable({
              relay,
              cause: new Error(`no connection within ${connectMillis} ms`)
            })
          )
      })
    )
    const told = yield* Queue.sliding<Nostr.Event>(notices.waiting)
    yield* Effect.acquireRelease(
      Effect.sync(() => open.set(relay, told)),
      () => Effect.sync(() => open.delete(relay))
    )
    const tellNext = Effect.flatMap(Queue.take(told), (event) => publish(session, event))
    for (let n = 0; n < notices.atOnce; n++) yield* Effect.forkScoped(Effect.forever(tellNext))
    // A relay that does not confirm it must not delay requests.
    yield* Effect.forkScoped(publish(session, info(nowSeconds)))
    // Requests are interrupted only when the connection ends, and then need no place.
    const waiting: typeof WalletPayments.Waiting.Service = (wait) =>
      Effect.flatMap(Effect.andThen(places.release(1), Effect.exit(wait)), (exit) =>
        Effect.andThen(places.take(1), exit)
      )
    const one = (event: Nostr.Event) =>
      answer(relay, event).pipe(
        Effect.provideService(WalletPayments.Waiting, waiting),
        Effect.flatMap(
          Option.match({ onNone: () => Effect.void, onSome: (answered) => publish(session, answered) })
        ),
        Effect.catchTag("StoreUnavailable", (outage) =>
          Effect.logWarning("wallet connect: no response sent, because the store is unavailable", outage)
        ),
        Effect.annotateLogs({ relay })
      )
    const next = Effect.andThen(
      places.take(1),
      Effect.flatMap(session.next, (event) =>
        Effect.forkScoped(Effect.ensuring(one(event), places.release(1)))
      )
    )
    yield* Effect.catchTag(Effect.forever(next), "RelayUnreachable", (ended) =>
      Effect.logInfo("wallet connect: the relay's connection ended; reconnecting", ended)
    )
  }).pipe(Effect.scoped, Effect.annotateLogs({ relay }))

/**
 * Notifies apps of payments from now on. Notifications are only hints. Apps have to look up payments that
 * became final while no process was notifying them or a relay was unavailable.
 */
const tell = (open: Open, eventsFor: Effect.Success<ReturnType<typeof WalletNotices.make>>) =>
  Effect.gen(function* () {
    const store = yield* EventStore
    const ledger = yield* LedgerReads
    const wait = yield* (yield* Tail).listen(null)
    let position = yield* ledger.lastEvent
    const step = Effect.gen(function* () {
      const page = yield* store.eventsOf(null, position, pageSize)
      const told = (yield* Effect.forEach(page, eventsFor)).flat()
      yield* Effect.forEach(open.values(), (waiting) => Queue.offerAll(waiting, told), { discard: true })
      position = page.at(-1)?.id ?? position
      return page.length
    })
    yield* Effect.forever(Effect.andThen(wait, Effect.repeat(step, { while: (count) => count === pageSize })))
  }).pipe(Effect.scoped)

/**
 * Responds to apps and notifies them of payments while the scope is open, in one process at a time, if relays
 * are configured. Requires `Nostr.Sessions`.
 */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const place = yield* WalletConnections.Place
    if (place === undefined) return
    const { relays, secretKey } = place
    const requests = yield* WalletRequests.make(secretKey)
    const eventsFor = yield* WalletNotices.make(secretKey)
    const info = (seconds: number) =>
      WalletConnect.info(WalletMethods.names, WalletNotices.types, seconds, secretKey)
    yield* Duties.run("wallet connect", () =>
      Effect.gen(function* () {
        const open: Open = new Map()
        for (const relay of relays)
          yield* Worker.runOpen(
            `wallet connect at ${relay}`,
            listen(relay, open, requests, info),
            Effect.sleep("1 second")
          )
        yield* Worker.runOpen("wallet notifications", tell(open, eventsFor), Effect.sleep("1 second"))
      })
    )
  })
)
