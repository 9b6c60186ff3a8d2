import { Effect } from "effect"
import { LedgerReads, type Published } from "../../ledger/LedgerReads.ts"
import { LightningBooks, type Own, type Page } from "../../nodes/LightningBooks.ts"
import type * as Run from "./Run.ts"

const pageSize = 500

/** The node's entries and our events since the previous run. */
export interface Statement {
  /** The node's entries. A payment that was attempted twice has two entries, the newer one last. */
  readonly theirs: ReadonlyArray<Run.Theirs>
  /** Payments that our events report as settled. */
  readonly ours: ReadonlyArray<Run.Watched>
  /** The positions from which the next statement is read. */
  readonly places: Pick<Run.Run["places"], "sent" | "taken" | "event">
  /** True if there is more to read. */
  readonly isBehind: boolean
}

/** Reads pages of the node's books until the end or the maximum number of entries. */
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

/** Returns the payment that one of our events reports as settled, if any. */
const settledBy = ({ type, companyId, subject }: Published): ReadonlyArray<Run.Watched> => {
  if (type === "withdrawal.settled") return [{ _tag: "Withdrawal", companyId, id: subject }]
  return type === "invoice.settled" ? [{ _tag: "Invoice", companyId, id: subject }] : []
}

/** Reads the node's books and our events, starting at the point where the previous run stopped. */
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
    /**
     * Returns the node's own income and costs listed after `place`. Reads whole pages until there are at least
     * `room` items. Returns no items if the node does not list them.
     */
    own: Effect.fnUntraced(function* (place: string | null, room: number) {
      const { own } = lightning
      return own === undefined ? nothing : yield* pages(own, place, room)
    }),

    /**
     * Reads the entries and events after `places`. Reads whole pages of each kind until there are at least
     * `room` items. If `places` is undefined, returns no items, only the positions of the newest ones.
     */
    since: Effect.fnUntraced(function* (places: Run.Run["places"] | undefined, room: number) {
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
