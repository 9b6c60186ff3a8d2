import { Clock, Context, Effect, Latch, Layer, type Scope } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import * as Listeners from "../base/Listeners.ts"
import * as Worker from "../base/Worker.ts"
import { EventStore } from "../ledger/EventStore.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads, type Published } from "../ledger/LedgerReads.ts"
import { PollMillis, topics, Wakes } from "../ledger/Wakes.ts"

// A read begins shortly after a commit, because a payment often commits again at once. Then a longer
// pause lets one read cover many commits. An event becomes visible only when every transaction that may precede it has
// ended. A second read therefore follows soon, and further reads follow at growing intervals.
const leadMillis = 5
const gapMillis = 20
const againMillis = 250
const pageSize = 1000

/** Signals when there are new events to read. */
export class Tail extends Context.Service<
  Tail,
  {
    /**
     * Returns an effect that waits until there may be new events of the company (null: of any company) since
     * the effect last ran. The first run does not wait. The effect is valid while the scope is open.
     */
    readonly listen: (
      companyId: CompanyId.CompanyId | null
    ) => Effect.Effect<Effect.Effect<void>, never, Scope.Scope>
    /**
     * Returns events of all companies after `after`, as stored (`EventStore.eventsOf`), for listeners to all
     * companies. Reuses the page just read by this service. The result may end before the last event; listeners
     * are then woken to read the rest.
     */
    readonly after: (after: bigint) => Effect.Effect<ReadonlyArray<Published>, StoreUnavailable>
  }
>()("@satrail/core/events/Tail") {}

/** Waits for new events, but no longer than until this time, when earlier ones can be read (`Feed.Page.againAtMillis`). */
export const moreUntil = (more: Effect.Effect<void>, againAtMillis = Infinity) =>
  Effect.flatMap(Clock.currentTimeMillis, (nowMillis) =>
    againAtMillis === Infinity
      ? more
      : Effect.asVoid(Effect.timeoutOption(more, Math.max(againAtMillis - nowMillis, 1)))
  )

const anybody = "*"

export const make = Effect.gen(function* () {
  const store = yield* EventStore
  const ledger = yield* LedgerReads
  const longestMillis = yield* PollMillis
  const committed = yield* (yield* Wakes).listen(topics.event)
  const listened = yield* Latch.make(false)
  let pauseMillis: number = againMillis
  let position: bigint | undefined
  /** The last page read, and the event that it follows. */
  let looked: { readonly after: bigint; readonly page: ReadonlyArray<Published> } | undefined

  const listeners = Listeners.make({
    isReady: true,
    joined: () => listened.openUnsafe(),
    left: () => {
      if (listeners.topics().length > 0) return
      listened.closeUnsafe()
      position = undefined
      looked = undefined
    }
  })

  const look = Effect.gen(function* () {
    yield* listened.await
    const known = position
    if (known === undefined) {
      const last = yield* ledger.lastEvent
      position = last
      // The companies of events committed between the start of listening and this read are unknown, so wake
      // every listener.
      listeners.topics().forEach(listeners.wake)
      return
    }
    const page = yield* store.eventsOf(null, known, pageSize)
    if (position !== known) return // listening ended or restarted during the read
    for (const name of new Set<string>(page.map(({ companyId }) => companyId))) listeners.wake(name)
    if (page.length > 0) listeners.wake(anybody)
    if (page.length > 0) looked = { after: known, page }
    position = page.at(-1)?.id ?? known
    pauseMillis = page.length > 0 ? againMillis : Math.min(2 * pauseMillis, longestMillis)
  })
  const woken = Effect.map(committed, () => {
    pauseMillis = gapMillis
  })
  const moment = Effect.suspend(() => Effect.raceFirst(woken, Effect.sleep(pauseMillis - gapMillis)))

  // The read that follows also covers the commits during `leadMillis`.
  const lead = Effect.andThen(Effect.sleep(leadMillis), Effect.raceFirst(woken, Effect.void))
  const gap = Effect.sleep(gapMillis - leadMillis)
  yield* Worker.runOpen("events", look, gap.pipe(Effect.andThen(moment), Effect.andThen(lead)))

  return Tail.of({
    listen: (companyId) => listeners.listen(companyId ?? anybody),
    after: (after) =>
      Effect.suspend(() =>
        looked !== undefined && looked.after <= after
          ? Effect.succeed(looked.page.filter(({ id }) => id > after))
          : store.eventsOf(null, after, pageSize)
      )
  })
})

export const layer = Layer.effect(Tail, make)
