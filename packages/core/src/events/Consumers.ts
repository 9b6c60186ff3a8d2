import { type Heard, afterAllOf, cursorOf, Events, placeOf } from "./Events.ts"
import * as Id from "../base/Id.ts"
import * as Worker from "../base/Worker.ts"
import type { Fence } from "../ledger/Change.ts"
import * as Cursor from "../ledger/Cursor.ts"
import * as Duties from "../ledger/Duties.ts"
import { Journal } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { Cause, Clock, Effect, Latch, Option, Schedule, Schema, Semaphore, Stream } from "effect"

/** The number of handlers that run concurrently in a consumer, each for a different record. */
export const atOnce = 16

/**
 * Maximum number of events that were read but not handled, because the stored position contains the cursor of
 * each. When it is reached, the consumer reads no further.
 */
export const maxOpen = 1000

/** The pause after a failure. It doubles with each failure, up to the maximum. */
export const pauseMillis = { first: 1000, longest: 300_000 }
const pauses = Schedule.min([Schedule.exponential(pauseMillis.first), Schedule.spaced(pauseMillis.longest)])

/** How often the position is stored if no handler was called. */
const idleMillis = 60_000

/** A consumer's position: all events up to `after` have been handled, except those in `open`. */
const Place = Schema.Struct({ after: Schema.NullOr(Schema.String), open: Schema.Array(Schema.String) })
interface Place extends Schema.Schema.Type<typeof Place> {}
const Text = Schema.fromJsonString(Place)

export interface Ask {
  /** The consumer's name, under which its position is stored. */
  readonly name: string
  /** Where the consumer begins when it is first started: after an event, at `"now"`, or at the oldest event. */
  readonly after: string | undefined
  readonly isAsked: (heard: Heard) => boolean
  readonly handle: (heard: Heard) => Promise<void>
  /** The event's id and type, for the log. */
  readonly describe: (heard: Heard) => { readonly event: string; readonly type: string }
}

const sourceOf = (name: string) => `consumer ${name}` as const

/** Returns the position immediately before an event, so that a stream from there begins with that event. */
const before = (cursor: string): string => {
  const place = placeOf(cursor)
  return place === undefined ? cursor : cursorOf({ ...place, part: Math.max(0, place.part - 1) })
}

/**
 * Determines where a new consumer begins. Call it before the consumer waits for its lease, so that `"now"` is
 * the time of that call.
 */
const beginning = Effect.fnUntraced(function* ({ after }: Ask) {
  if (after !== "now") return after ?? null
  return cursorOf(afterAllOf(yield* Effect.retry(Effect.sandbox((yield* LedgerReads).lastEvent), pauses)))
})

const stored = Effect.fnUntraced(function* ({ name }: Ask, after: string | null) {
  const ledger = yield* LedgerReads
  const found = Option.getOrUndefined(yield* ledger.cursor(sourceOf(name)))
  return found === undefined
    ? ({ after, open: [] } satisfies Place)
    : yield* Schema.decodeUnknownEffect(Text)(found)
})

/** A consumer's position, stored when it changes while the lease is held. */
const placed = Effect.fnUntraced(function* (ask: Ask, begin: Place, fence: Fence) {
  const journal = yield* Journal
  const changed = yield* Latch.make(false)
  const place = { after: begin.after, open: new Set(begin.open) }
  let saved: string | undefined

  const save = Effect.gen(function* () {
    const value = Schema.encodeSync(Text)({ after: place.after, open: [...place.open] })
    if (value === saved) return
    yield* journal.commit(
      Cursor.moved(
        { source: sourceOf(ask.name), value },
        yield* Id.make,
        yield* Clock.currentTimeMillis,
        fence
      )
    )
    saved = value
  })
  yield* save
  // This scope closes last, after every handler has finished.
  yield* Effect.addFinalizer(() => Effect.ignore(save))
  const lost = Effect.andThen(
    Effect.logWarning(`consumer: ${ask.name} continues in another process`),
    Effect.never
  )
  const saving = Effect.andThen(
    changed.close,
    Effect.catchTag(save, "StaleFence", () => lost)
  )
  yield* Worker.runOpen(
    `position of ${ask.name}`,
    saving,
    Effect.raceFirst(changed.await, Effect.sleep(idleMillis))
  )
  return { place, changed: changed.open }
})

type Placed = Effect.Success<ReturnType<typeof placed>>

/** Calls the handler for incoming events with retries, one event at a time per record. */
const dispatching = Effect.fnUntraced(function* (ask: Ask, { place, changed }: Placed) {
  const scope = yield* Effect.scope
  const handlers = yield* Semaphore.make(atOnce)
  const room = yield* Latch.make(true)
  /** Contains only events at the head of a queue. */
  const failing = new Set<string>()
  const queues = new Map<string, Array<Heard>>()

  const failed = Effect.fnUntraced(function* (heard: Heard, cause: unknown) {
    if (failing.has(heard.cursor)) return
    failing.add(heard.cursor)
    yield* room.open
    yield* Effect.logWarning(
      `consumer: the handler ${ask.name} failed; will retry`,
      ask.describe(heard),
      Cause.fail(cause)
    )
  })
  const done = ({ cursor }: Heard) => {
    place.open.delete(cursor)
    failing.delete(cursor)
  }
  const handle = (heard: Heard) =>
    Effect.tryPromise({ try: () => ask.handle(heard), catch: (cause) => cause }).pipe(
      // This is uninterruptible, so that a handled event is marked as handled even while the consumer is being
      // stopped.
      Effect.tap(() => Effect.sync(() => done(heard))),
      Effect.uninterruptible,
      handlers.withPermit,
      Effect.tapError((cause) => failed(heard, cause)),
      Effect.retry(pauses),
      Effect.orDie
    )
  const drain = Effect.fnUntraced(function* (subject: string, queue: Array<Heard>) {
    for (let heard = queue[0]; heard !== undefined; heard = queue[0]) {
      yield* handle(heard)
      queue.shift()
      if (queue.length === 0) queues.delete(subject)
      yield* Effect.andThen(room.open, changed)
    }
  })

  const isFull = () => queues.size - failing.size >= 2 * atOnce || place.open.size >= maxOpen
  return {
    untilRoom: Effect.gen(function* () {
      while (isFull()) {
        yield* room.close
        if (isFull()) yield* room.await
      }
    }),
    dispatch: Effect.fnUntraced(function* (heard: Heard) {
      place.open.add(heard.cursor)
      const queue = queues.get(heard.subject)
      if (queue !== undefined) return void queue.push(heard)
      const begun = [heard]
      queues.set(heard.subject, begun)
      yield* Effect.forkIn(drain(heard.subject, begun), scope)
    })
  }
})

/** Consumes events until the scope of the lease closes. */
const consume = Effect.fnUntraced(function* (ask: Ask, first: string | null, fence: Fence) {
  const events = yield* Events
  const begin = yield* stored(ask, first)
  const found = yield* placed(ask, begin, fence)
  const { place, changed } = found
  const { untilRoom, dispatch } = yield* dispatching(ask, found)

  const left = new Set(begin.open)
  const dropped = (cursor: string) =>
    Effect.suspend(() => {
      left.delete(cursor)
      place.open.delete(cursor)
      return Effect.logError(`consumer: the event at ${cursor} was deleted before ${ask.name} handled it`)
    })
  /**
   * Handles the events that were open when the previous process ended, except those that the handler no longer requests.
   * If such an event has since been deleted, the stream fails or begins with a different one.
   */
  const again = Effect.suspend(() =>
    Effect.forEach([...left], (cursor) =>
      events.tail({ after: before(cursor) }).pipe(
        Stream.take(1),
        Stream.runForEach((heard) => {
          if (heard.cursor !== cursor) return dropped(cursor)
          left.delete(cursor)
          if (ask.isAsked(heard)) return dispatch(heard)
          place.open.delete(cursor)
          return Effect.andThen(
            Effect.logWarning(
              `consumer: dropped an open event, because ${ask.name} no longer requests it`,
              ask.describe(heard)
            ),
            changed
          )
        }),
        Effect.catchTag("CursorTooOld", () => dropped(cursor))
      )
    )
  )
  const onward = Effect.suspend(() =>
    Stream.runForEach(
      events.tail(place.after === null ? {} : { after: place.after }),
      Effect.fnUntraced(function* (heard) {
        const isAsked = ask.isAsked(heard)
        if (isAsked) yield* untilRoom
        place.after = heard.cursor // in the same step as `open`, so that the stored position accounts for each event exactly once
        if (isAsked) yield* Effect.andThen(dispatch(heard), changed)
      })
    )
  )
  const deleted = (cursor: string) =>
    Effect.logError(
      `consumer: events after ${cursor} were deleted before ${ask.name} handled them; it continues at the oldest event`
    )
  const reading = Effect.andThen(again, onward).pipe(
    Effect.catchTag("CursorTooOld", ({ cursor }) =>
      Effect.andThen(
        deleted(cursor),
        Effect.suspend(() => {
          place.after = null
          return onward
        })
      )
    )
  )
  // The events end only when the services close.
  yield* Worker.runOpen(`events of ${ask.name}`, reading, Effect.never)
})

/** Delivers events to a handler in one process at a time, until the scope closes. */
export const run = Effect.fnUntraced(function* (ask: Ask) {
  const first = yield* Effect.orDie(beginning(ask))
  yield* Duties.run(`consumer ${ask.name}`, (fence) => Effect.orDie(consume(ask, first, fence)))
})
