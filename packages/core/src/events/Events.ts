import { Context, Deferred, Effect, Layer, Option, Schedule, Schema, Stream } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import { Invalid } from "../base/Invalid.ts"
import { EventStore } from "../ledger/EventStore.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import * as Notice from "./Notice.ts"
import * as Notices from "./Notices.ts"
import { Tail } from "./Tail.ts"

/** How long events are kept. A cursor after which events were deleted is refused. */
export const keptMillis = 90 * 24 * 3600 * 1000

/** Events after this cursor have been deleted. Read the records themselves, and go on from the oldest event (no cursor), or from now. */
export class CursorTooOld extends Schema.TaggedError<CursorTooOld>()("CursorTooOld", { cursor: Schema.String }) {}

/** An event, and the cursor to go on from once it is done with. */
export type Heard = Notice.Notice & { readonly cursor: string }

/** A place as text: `4096123.1`. */
export const cursorOf = ({ event, part }: Notice.Place): string => `${event}.${part}`

/** The place in a text; undefined where it is none. */
export const placeOf = (cursor: string): Notice.Place | undefined => {
  const [, event = "", part = ""] = /^(\d{1,18})\.(\d{1,3})$/.exec(cursor) ?? []
  return event === "" ? undefined : { event: BigInt(event), part: Number(part) }
}

/** Right after all of an event. */
export const afterAllOf = (id: bigint): Notice.Place => ({ event: id + 1n, part: 0 })

/** How many committed events are read at once. */
const pageSize = 200

/** How often a store that is away is asked again: after this, twice this, and so on. */
const pauseMillis = { first: 250, longest: 30_000 }
const pauses = Schedule.min([Schedule.exponential(pauseMillis.first), Schedule.spaced(pauseMillis.longest)])

/** Asks until the store answers. An outage is logged once. */
const patiently = <A>(read: Effect.Effect<A, StoreUnavailable>): Effect.Effect<A> =>
  Effect.suspend(() => {
    let isLogged = false
    const log = Effect.fnUntraced(function* (outage: StoreUnavailable) {
      if (!isLogged) yield* Effect.logWarning("events: the store is away; a subscriber waits", outage)
      isLogged = true
    })
    return Effect.orDie(Effect.retry(Effect.tapError(read, log), pauses))
  })

/** What has happened, for the program that embeds the service: without HTTP, in the types of the core. */
export class Events extends Context.Service<
  Events,
  {
    /**
     * Everything that was committed and companies are told of, of one company or (without `companyId`) of all, oldest first, and then what is
     * committed from there on, for as long as the stream is read. Goes on after `after`: the `cursor` of the last event that was dealt with. Without one it
     * begins with the oldest event that is kept; `"now"`: with what is committed from here on.
     *
     * At least once: whoever keeps the cursor after it has dealt with an event gets that event again if it dies in between. Events of one record
     * come in their order; across records in the order of their commits. The next page is read when the one before is dealt with: a slow reader holds up
     * nothing but itself. An outage of the store is waited for. When the services are closed the stream ends, after the event that is being dealt with.
     */
    readonly tail: (ask?: {
      readonly companyId?: CompanyId.CompanyId
      readonly after?: string
    }) => Stream.Stream<Heard, Invalid | CursorTooOld>
  }
>()("@satrail/core/events/Events") {}

export const make = Effect.gen(function* () {
  const store = yield* EventStore
  const ledger = yield* LedgerReads
  const notices = yield* Notices.make
  const tail = yield* Tail
  const closed = yield* Deferred.make<void>()
  yield* Effect.addFinalizer(() => Deferred.succeed(closed, undefined))
  const unlessClosed = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<Option.Option<A>, E> =>
    Effect.raceFirst(Effect.asSome(effect), Effect.as(Deferred.await(closed), Option.none()))

  const begin = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId | null, after: string | undefined) {
    if (after === undefined) return Notice.first
    if (after === "now") return afterAllOf(yield* patiently(ledger.lastEvent))
    const place = placeOf(after)
    if (place === undefined) return yield* new Invalid({ path: "after", message: "The cursor of an event, or now" })
    if (yield* patiently(isForgotten(store, companyId, place))) return yield* new CursorTooOld({ cursor: after })
    return place
  })

  return Events.of({
    tail: ({ companyId = null, after }: { readonly companyId?: CompanyId.CompanyId | null; readonly after?: string } = {}) =>
      Stream.unwrap(
        Effect.gen(function* () {
          const more = yield* tail.listen(companyId)
          const read = Effect.fnUntraced(function* (place: Notice.Place) {
            const events = yield* store.eventsOf(companyId, place.event - 1n, pageSize)
            const heard = (yield* Effect.forEach(events, notices.of, { concurrency: pageSize })).flat()
            return { last: events.at(-1), heard }
          })
          const next = Effect.fnUntraced(function* (place: Notice.Place) {
            const { last, heard } = yield* patiently(read(place))
            if (last === undefined) yield* more
            const page = heard.flatMap((one): ReadonlyArray<Heard> =>
              Notice.isAfter(one.place, place) ? [{ ...one, cursor: cursorOf(one.place) }] : []
            )
            return [page, Option.some(last === undefined ? place : afterAllOf(last.id))] as const
          })
          return Option.match(yield* unlessClosed(begin(companyId, after)), {
            onNone: () => Stream.empty,
            onSome: (place) =>
              Stream.paginate(place, (place) =>
                Effect.map(
                  unlessClosed(next(place)),
                  Option.getOrElse(() => [[], Option.none()] as const)
                )
              )
          })
        })
      ).pipe(Stream.rechunk(1), Stream.haltWhen(Deferred.await(closed)))
  })
})

/** Whether events after this place were deleted. */
export const isForgotten = (store: EventStore["Service"], companyId: CompanyId.CompanyId | null, { event }: Notice.Place) =>
  event === 0n ? Effect.succeed(false) : Effect.map(store.forgottenUntil(companyId), (until) => event < until)

export const layer = Layer.effect(Events, make)
