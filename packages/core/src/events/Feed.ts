import { Clock, Context, Effect, Layer, Option } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import { Invalid } from "../base/Invalid.ts"
import { EventStore, type PublicEvent, type PublicEvents } from "../ledger/EventStore.ts"
import { NotFound, type StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads, type Published } from "../ledger/LedgerReads.ts"
import { maxCharacters } from "../ledger/Page.ts"
import { afterAllOf, cursorOf, CursorTooOld, isForgotten } from "./Events.ts"
import * as Notice from "./Notice.ts"
import * as Notices from "./Notices.ts"

/** Default and maximum number of events per page. */
export const limit = { default: 100, maximum: 1000 } as const

/**
 * Maximum number of committed events read for one page, even if only a few of them match. If it is reached, the
 * page is short, and `next` continues after these events.
 */
export const maxLooked = 5000

// Events are rendered from their records, whose metadata may be large, so few are read at a time.
const chunkSize = 100
/** The highest possible event id. */
const maxId = 2n ** 63n - 1n

/** Renders the bytes of one event. The result is stored and used for all readers. */
export type Render = (notice: Notice.Notice) => string

/** A rendered event and its position. */
export interface Item extends PublicEvent {
  readonly place: Notice.Place
  readonly companyId: CompanyId.CompanyId
  /** Time at which the event was committed. */
  readonly atMillis: number
}

/**
 * Selects a company's events after a position; a null company id selects all companies. `types` and `subject`
 * (in lower case) restrict the selection further.
 */
export interface Ask {
  readonly companyId: CompanyId.CompanyId | null
  readonly after: Notice.Place
  readonly limit: number
  readonly types?: ReadonlySet<string>
  readonly subject?: string
}

/**
 * A page of events, which ends early at `maxCharacters`. `next` is the start of the next page, and stays the same
 * while there are no more events.
 */
export interface Page {
  readonly items: ReadonlyArray<Item>
  readonly next: Notice.Place
  /** Time at which events after this page can be read that only a newer version can publish. */
  readonly againAtMillis?: number
  /** True if the page ends at the last event that can be read now. */
  readonly isEnd?: true
}

/**
 * Selects a company's events before a position, or the newest ones if `before` is undefined. `types` restricts
 * the selection further.
 */
export interface AskNewest {
  readonly companyId: CompanyId.CompanyId
  readonly before: Notice.Place | undefined
  readonly limit: number
  readonly types?: ReadonlySet<string>
}

/** Rendered events, which are the same bytes for every reader. */
export class Feed extends Context.Service<
  Feed,
  {
    /** All types of events, including those of the host's features. */
    readonly types: ReadonlyArray<string>
    readonly page: (
      ask: Ask,
      render: Render
    ) => Effect.Effect<Page, Invalid | CursorTooOld | StoreUnavailable>
    /** Returns the newest events, newest first. `next` is undefined at the end. */
    readonly newest: (
      ask: AskNewest,
      render: Render
    ) => Effect.Effect<
      { readonly items: ReadonlyArray<Item>; readonly next: Notice.Place | undefined },
      StoreUnavailable
    >
    readonly get: (
      companyId: CompanyId.CompanyId | null,
      place: Notice.Place,
      render: Render
    ) => Effect.Effect<Item, NotFound | StoreUnavailable>
    /** The position of the next commit. */
    readonly now: Effect.Effect<Notice.Place, StoreUnavailable>
    /**
     * Returns the position directly before the oldest kept event of a company, or of all companies if the id is
     * null.
     */
    readonly oldest: (companyId: CompanyId.CompanyId | null) => Effect.Effect<Notice.Place, StoreUnavailable>
  }
>()("@satrail/core/events/Feed") {}

type Filter = Pick<Ask, "types" | "subject">

/** Ids of keys have letters in both cases. A filter has none in upper case. */
const isSubject = ({ subject }: Filter, id: string): boolean =>
  subject === undefined || subject === id.toLowerCase()

/** Returns whether a filter selects a notice. */
export const isAsked = (item: Pick<Item, "type" | "subject">, ask: Filter): boolean =>
  (ask.types === undefined || ask.types.has(item.type)) && isSubject(ask, item.subject)

/**
 * Returns the number of events to read at a time. It does not exceed the number requested, unless a filter may
 * leave out most events.
 */
const chunkOf = (limit: number, { types, subject }: Filter): number =>
  types === undefined && subject === undefined ? Math.min(chunkSize, limit) : chunkSize

const itemsOf = ({ id, companyId, events }: PublicEvents, atMillis: number): ReadonlyArray<Item> =>
  events.map((event, i) => ({ ...event, companyId, atMillis, place: { event: id, part: i + 1 } }))

export const make = Effect.gen(function* () {
  const store = yield* EventStore
  const ledger = yield* LedgerReads
  const notices = yield* Notices.make

  /** Returns whether a committed event may be published as one of the requested events. */
  const isCandidate = ({ type, subject }: Published, ask: Filter): boolean =>
    (isSubject(ask, subject) || notices.isAboutOthers(type)) &&
    (ask.types === undefined || notices.typesOf(type).some((one) => ask.types?.has(one)))

  /** Returns the published form of these events. The first rendering is stored and used from then on. */
  const told = Effect.fnUntraced(function* (events: ReadonlyArray<Published>, render: Render) {
    const known = new Map((yield* store.publicEvents(events.map(({ id }) => id))).map((one) => [one.id, one]))
    const missing = events.filter(({ id }) => !known.has(id))
    const made = yield* Effect.forEach(
      missing,
      (event) =>
        Effect.map(notices.of(event), (about) => ({
          id: event.id,
          companyId: event.companyId,
          events: about.map((notice) => ({
            type: notice.type,
            subject: notice.subject,
            body: render(notice)
          }))
        })),
      { concurrency: chunkSize }
    )
    // Another process may be rendering the same events. The result that is stored first is used.
    for (const one of yield* store.storePublicEvents(made.filter(({ events }) => events.length > 0)))
      known.set(one.id, one)
    return events.flatMap(({ id, atMillis }) => {
      const one = known.get(id)
      return one === undefined ? [] : itemsOf(one, atMillis)
    })
  })

  const page = Effect.fnUntraced(function* (ask: Ask, render: Render) {
    if (!Number.isInteger(ask.limit) || ask.limit < 1 || ask.limit > limit.maximum)
      return yield* new Invalid({
        path: "limit",
        message: `must be a whole number from 1 to ${limit.maximum}`
      })
    if (yield* isForgotten(store, ask.companyId, ask.after))
      return yield* new CursorTooOld({ cursor: cursorOf(ask.after) })
    const items: Array<Item> = []
    let characters = 0
    let next = ask.after
    for (let looked = 0; looked < maxLooked;) {
      const wanted = chunkOf(ask.limit, ask)
      const read: ReadonlyArray<Published> = yield* store.eventsOf(ask.companyId, next.event - 1n, wanted)
      const { events, againAtMillis } = notices.beforeNewer(read, yield* Clock.currentTimeMillis)
      const found = yield* told(
        events.filter((event) => isCandidate(event, ask)),
        render
      )
      for (const item of found) {
        if (!Notice.isAfter(item.place, ask.after) || !isAsked(item, ask)) continue
        items.push(item)
        characters += item.body.length
        if (items.length === ask.limit || characters >= maxCharacters) return { items, next: item.place }
      }
      const last = events.at(-1)
      if (last !== undefined && Notice.isAfter(afterAllOf(last.id), next)) next = afterAllOf(last.id)
      if (againAtMillis !== undefined) return { items, next, againAtMillis }
      if (events.length < wanted) return { items, next, isEnd: true as const }
      looked += events.length
    }
    return { items, next }
  })

  const newest = Effect.fnUntraced(function* (
    { companyId, before, limit: most, ...ask }: AskNewest,
    render: Render
  ) {
    const items: Array<Item> = []
    let characters = 0
    let next = before
    for (let looked = 0; looked < maxLooked;) {
      const wanted = chunkOf(most, ask)
      const end = next === undefined ? maxId : next.part === 0 ? next.event : next.event + 1n
      const events: ReadonlyArray<Published> = yield* store.eventsBefore(companyId, end, wanted)
      const found = yield* told(
        events.filter((event) => isCandidate(event, ask)),
        render
      )
      for (const item of found.toSorted((a, b) => (Notice.isAfter(a.place, b.place) ? -1 : 1))) {
        if ((next !== undefined && !Notice.isAfter(next, item.place)) || !isAsked(item, ask)) continue
        items.push(item)
        characters += item.body.length
        if (items.length === most || characters >= maxCharacters) return { items, next: item.place }
      }
      const last = events.at(-1)
      if (last === undefined || events.length < wanted) return { items, next: undefined }
      next = { event: last.id, part: 0 }
      looked += events.length
    }
    return { items, next }
  })

  return Feed.of({
    types: notices.types,
    page,
    newest,
    get: Effect.fnUntraced(function* (companyId, place, render) {
      const found = yield* store.event(place.event)
      const isTheirs = Option.filter(found, (event) => companyId === null || event.companyId === companyId)
      const items = Option.isSome(isTheirs) ? yield* told([isTheirs.value], render) : []
      return items[place.part - 1] ?? (yield* new NotFound({ what: "event", id: cursorOf(place) }))
    }),
    now: Effect.map(ledger.lastEvent, afterAllOf),
    oldest: (companyId) =>
      Effect.map(store.eventsOf(companyId, 0n, 1), ([event]) =>
        event === undefined ? Notice.first : { event: event.id, part: 0 }
      )
  })
})

export const layer = Layer.effect(Feed, make)
