import { Clock, Context, Deferred, Effect, Layer, Option, Schedule, Schema, Stream } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import { Invalid } from "../base/Invalid.ts"
import { EventStore } from "../ledger/EventStore.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import * as Notice from "./Notice.ts"
import * as Notices from "./Notices.ts"
import { moreUntil, Tail } from "./Tail.ts"

/** Retention period of events. A cursor that precedes a deleted event is rejected. */
export const keptMillis = 90 * 24 * 3600 * 1000

/**
 * Events after this cursor have been deleted. Read the records themselves, then continue with the oldest event
 * (no cursor) or with `now`.
 */
export class CursorTooOld extends Schema.TaggedError<CursorTooOld>()("CursorTooOld", {
  cursor: Schema.String
}) {}

/** An event, with the cursor at which to resume after it. */
export type Heard = Notice.Notice & { readonly cursor: string }

/** Formats a position, such as `4096123.1`. */
export const cursorOf = ({ event, part }: Notice.Place): string => `${event}.${part}`

/** Parses a position; undefined if the text is invalid. */
export const placeOf = (cursor: string): Notice.Place | undefined => {
  const [, event = "", part = ""] = /^(\d{1,18})\.(\d{1,3})$/.exec(cursor) ?? []
  return event === "" ? undefined : { event: BigInt(event), part: Number(part) }
}

/** Returns the position after all parts of an event. */
export const afterAllOf = (id: bigint): Notice.Place => ({ event: id + 1n, part: 0 })

/** Number of committed events read at a time. */
const pageSize = 200

/** Pauses between retries while the store is unavailable, doubling from `first` to `longest`. */
const pauseMillis = { first: 250, longest: 30_000 }
const pauses = Schedule.min([Schedule.exponential(pauseMillis.first), Schedule.spaced(pauseMillis.longest)])

/** Retries until the store responds. Logs an outage once. */
const patiently = <A>(read: Effect.Effect<A, StoreUnavailable>): Effect.Effect<A> =>
  Effect.suspend(() => {
    let isLogged = false
    const log = Effect.fnUntraced(function* (outage: StoreUnavailable) {
      if (!isLogged)
        yield* Effect.logWarning("events: the store is unavailable; a subscriber is waiting", outage)
      isLogged = true
    })
    return Effect.orDie(Effect.retry(Effect.tapError(read, log), pauses))
  })

/** Events for the host program, without HTTP and in the core's types. */
export class Events extends Context.Service<
  Events,
  {
    /**
     * Streams the events of one company, or of all companies if `companyId` is omitted, oldest first, and
     * continues with new ones while the stream is read. Resumes after `after`, the `cursor` of the last
     * processed event. If `after` is omitted, starts with the oldest event kept; if it is `"now"`, starts with
     * the next commit.
     *
     * Each event is delivered at least once. If you store the cursor after processing an event, a crash in
     * between repeats that event. Events of one record arrive in order, and events of different records in
     * commit order. The next page is read when the previous one is processed, so a slow reader delays only
     * itself. The stream waits during a store outage. It ends when the services are closed, once the event
     * being processed is done.
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

  const begin = Effect.fnUntraced(function* (
    companyId: CompanyId.CompanyId | null,
    after: string | undefined
  ) {
    if (after === undefined) return Notice.first
    if (after === "now") return afterAllOf(yield* patiently(ledger.lastEvent))
    const place = placeOf(after)
    if (place === undefined)
      return yield* new Invalid({ path: "after", message: "must be the cursor of an event, or now" })
    if (yield* patiently(isForgotten(store, companyId, place)))
      return yield* new CursorTooOld({ cursor: after })
    return place
  })

  return Events.of({
    tail: ({
      companyId = null,
      after
    }: { readonly companyId?: CompanyId.CompanyId | null; readonly after?: string } = {}) =>
      Stream.unwrap(
        Effect.gen(function* () {
          const more = yield* tail.listen(companyId)
          const read = Effect.fnUntraced(function* (place: Notice.Place) {
            const { events, againAtMillis } = notices.beforeNewer(
              yield* store.eventsOf(companyId, place.event - 1n, pageSize),
              yield* Clock.currentTimeMillis
            )
            const heard = (yield* Effect.forEach(events, notices.of, { concurrency: pageSize })).flat()
            return { last: events.at(-1), heard, againAtMillis }
          })
          const next = Effect.fnUntraced(function* (place: Notice.Place) {
            const { last, heard, againAtMillis } = yield* patiently(read(place))
            if (last === undefined) yield* moreUntil(more, againAtMillis)
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

/** Returns whether events after this position were deleted. */
export const isForgotten = (
  store: EventStore["Service"],
  companyId: CompanyId.CompanyId | null,
  { event }: Notice.Place
) =>
  event === 0n ? Effect.succeed(false) : Effect.map(store.forgottenUntil(companyId), (until) => event < until)

export const layer = Layer.effect(Events, make)
