import { Context, Effect, Layer, Option } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import { Invalid } from "../base/Invalid.ts"
import { EventStore, type Telling, type Told } from "../ledger/EventStore.ts"
import { NotFound, type StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads, type Published } from "../ledger/LedgerReads.ts"
import { afterAllOf, cursorOf, CursorTooOld, isForgotten } from "./Events.ts"
import * as Notice from "./Notice.ts"
import * as Notices from "./Notices.ts"

/** How many events a page has. */
export const limit = { default: 100, maximum: 1000 } as const

/** How many committed events are looked at for one page, however few of them are what was asked for: then the page is short, and `next` goes on. */
export const maxLooked = 5000

const chunkSize = 200

/** Writes what companies are told: the bytes of one event. It is asked once for each event, and what it answers is kept. */
export type Render = (notice: Notice.Notice) => string

/** An event as it is told, and where it is. */
export interface Item extends Telling {
  readonly place: Notice.Place
  readonly companyId: CompanyId.CompanyId
  /** When it was committed. */
  readonly atMillis: number
}

/** Which events: of a company (null: of all), after a place, of these types and about this record, where that is said. */
export interface Ask {
  readonly companyId: CompanyId.CompanyId | null
  readonly after: Notice.Place
  readonly limit: number
  readonly types?: ReadonlySet<string>
  readonly subject?: string
}

/** A page, and where the next one begins: the same place as long as there is no more. */
export interface Page {
  readonly items: ReadonlyArray<Item>
  readonly next: Notice.Place
}

/** What companies are told, in the same bytes for everybody who listens. */
export class Feed extends Context.Service<
  Feed,
  {
    readonly page: (ask: Ask, render: Render) => Effect.Effect<Page, Invalid | CursorTooOld | StoreUnavailable>
    readonly get: (
      companyId: CompanyId.CompanyId | null,
      place: Notice.Place,
      render: Render
    ) => Effect.Effect<Item, NotFound | StoreUnavailable>
    /** The place of what is committed from here on. */
    readonly now: Effect.Effect<Notice.Place, StoreUnavailable>
    /** The place right before the oldest event that is kept of a company (null: of all). */
    readonly oldest: (companyId: CompanyId.CompanyId | null) => Effect.Effect<Notice.Place, StoreUnavailable>
  }
>()("@satrail/core/events/Feed") {}

const isAsked = (item: Item, ask: Ask): boolean =>
  Notice.isAfter(item.place, ask.after) &&
  (ask.types === undefined || ask.types.has(item.type)) &&
  (ask.subject === undefined || ask.subject === item.subject)

const itemsOf = ({ id, companyId, tellings }: Told, atMillis: number): ReadonlyArray<Item> =>
  tellings.map((telling, i) => ({ ...telling, companyId, atMillis, place: { event: id, part: i + 1 } }))

export const make = Effect.gen(function* () {
  const store = yield* EventStore
  const ledger = yield* LedgerReads
  const notices = yield* Notices.make

  /** Whether a committed event can be told as one that was asked for. */
  const isCandidate = ({ type, subject }: Published, ask: Ask): boolean =>
    (ask.subject === undefined || ask.subject === subject || notices.isAboutOthers(type)) &&
    (ask.types === undefined || notices.typesOf(type).some((one) => ask.types?.has(one)))

  /** What these events are told as: as it was told before, or from here on. */
  const told = Effect.fnUntraced(function* (events: ReadonlyArray<Published>, render: Render) {
    const known = new Map((yield* store.told(events.map(({ id }) => id))).map((one) => [one.id, one]))
    const missing = events.filter(({ id }) => !known.has(id))
    const made = yield* Effect.forEach(
      missing,
      (event) =>
        Effect.map(notices.of(event), (about) => ({
          id: event.id,
          companyId: event.companyId,
          tellings: about.map((notice) => ({ type: notice.type, subject: notice.subject, body: render(notice) }))
        })),
      { concurrency: chunkSize }
    )
    // Another process may be telling them too: whoever kept them first has decided.
    for (const one of yield* store.keepTold(made.filter(({ tellings }) => tellings.length > 0))) known.set(one.id, one)
    return events.flatMap(({ id, atMillis }) => {
      const one = known.get(id)
      return one === undefined ? [] : itemsOf(one, atMillis)
    })
  })

  const page = Effect.fnUntraced(function* (ask: Ask, render: Render) {
    if (!Number.isInteger(ask.limit) || ask.limit < 1 || ask.limit > limit.maximum)
      return yield* new Invalid({ path: "limit", message: `A whole number from 1 to ${limit.maximum}` })
    if (yield* isForgotten(store, ask.companyId, ask.after)) return yield* new CursorTooOld({ cursor: cursorOf(ask.after) })
    const items: Array<Item> = []
    let next = ask.after
    for (let looked = 0; looked < maxLooked;) {
      const wanted = Math.min(chunkSize, ask.limit)
      const events: ReadonlyArray<Published> = yield* store.eventsOf(ask.companyId, next.event - 1n, wanted)
      const found = yield* told(
        events.filter((event) => isCandidate(event, ask)),
        render
      )
      for (const item of found) {
        if (!isAsked(item, ask)) continue
        items.push(item)
        if (items.length === ask.limit) return { items, next: item.place }
      }
      const last = events.at(-1)
      if (last !== undefined && Notice.isAfter(afterAllOf(last.id), next)) next = afterAllOf(last.id)
      if (events.length < wanted) break
      looked += events.length
    }
    return { items, next }
  })

  return Feed.of({
    page,
    get: Effect.fnUntraced(function* (companyId, place, render) {
      const found = yield* store.event(place.event)
      const isTheirs = Option.filter(found, (event) => companyId === null || event.companyId === companyId)
      const items = Option.isSome(isTheirs) ? yield* told([isTheirs.value], render) : []
      return items[place.part - 1] ?? (yield* new NotFound({ what: "event", id: cursorOf(place) }))
    }),
    now: Effect.map(ledger.lastEvent, afterAllOf),
    oldest: (companyId) =>
      Effect.map(store.eventsOf(companyId, 0n, 1), ([event]) => (event === undefined ? Notice.first : { event: event.id, part: 0 }))
  })
})

export const layer = Layer.effect(Feed, make)
