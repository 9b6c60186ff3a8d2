import { Effect } from "effect"
import { LedgerReads, type Published } from "../../ledger/LedgerReads.ts"
import { LightningBooks, type Own, type Page } from "../../nodes/LightningBooks.ts"
import type * as Look from "./Look.ts"

const pageSize = 500

/** What the node and we have written down since a comparison. */
export interface Statement {
  /** The node's lines. A payment that was tried twice has two, the newest last. */
  readonly theirs: ReadonlyArray<Look.Theirs>
  /** What we say was settled with the node. */
  readonly ours: ReadonlyArray<Look.Watched>
  /** Where the next statement goes on. */
  readonly places: Pick<Look.Look["places"], "sent" | "taken" | "event">
  /** There is more than was read. */
  readonly isBehind: boolean
}

/** Pages of the node's books, as long as there are any and there is room. */
const pages = Effect.fnUntraced(function* <A, E>(
  page: (after: string | null) => Effect.Effect<Page<A>, E>,
  after: string | null,
  room: number
) {
  const lines: Array<A> = []
  let place = after
  while (lines.length < room || place === null) {
    const more: Page<A> = yield* page(place)
    lines.push(...more.lines)
    place = more.cursor
    if (more.lines.length === 0) return { lines, place, isBehind: false }
  }
  return { lines, place, isBehind: true }
})

const nothing: { readonly lines: ReadonlyArray<Own>; readonly place: null; readonly isBehind: boolean } = {
  lines: [],
  place: null,
  isBehind: false
}

/** What an event of ours says was settled with the node, if it says so. */
const settledBy = ({ type, companyId, subject }: Published): ReadonlyArray<Look.Watched> => {
  if (type === "withdrawal.settled") return [{ _tag: "Withdrawal", companyId, id: subject }]
  return type === "invoice.settled" ? [{ _tag: "Invoice", companyId, id: subject }] : []
}

/** Reads the node's books and our events on from where a comparison stopped. */
export const make = Effect.gen(function* () {
  const ledger = yield* LedgerReads
  const lightning = yield* LightningBooks

  const eventsAfter = Effect.fnUntraced(function* (after: bigint | undefined, room: number) {
    if (after === undefined) return { events: [], place: yield* ledger.lastEvent, isBehind: false }
    const events: Array<Published> = []
    let place = after
    while (events.length < room) {
      const page: ReadonlyArray<Published> = yield* ledger.events(place, pageSize)
      events.push(...page)
      place = page.at(-1)?.id ?? place
      if (page.length < pageSize) return { events, place, isBehind: false }
    }
    return { events, place, isBehind: true }
  })

  return {
    /** What the node has earned and spent by itself since, at most a page more than there is room for; nothing where it does not list it. */
    own: Effect.fnUntraced(function* (place: string | null, room: number) {
      const { own } = lightning
      return own === undefined ? nothing : yield* pages(own, place, room)
    }),

    /** At most a page more of each than there is room for. Without places, no lines and the place of the newest. */
    since: Effect.fnUntraced(function* (places: Look.Look["places"] | undefined, room: number) {
      const sent = yield* pages(lightning.sent, places?.sent ?? null, room)
      const taken = yield* pages(lightning.taken, places?.taken ?? null, room)
      const events = yield* eventsAfter(places?.event, room)
      const statement: Statement = {
        theirs: [
          ...sent.lines.map((line) => ({ _tag: "Sent" as const, ...line })),
          ...taken.lines.map((line) => ({ _tag: "Taken" as const, ...line }))
        ],
        ours: events.events.flatMap(settledBy),
        places: { sent: sent.place, taken: taken.place, event: events.place },
        isBehind: sent.isBehind || taken.isBehind || events.isBehind
      }
      return statement
    })
  }
})
