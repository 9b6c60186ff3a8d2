import * as Notice from "@satrail/core/events/Notice"
import * as Event from "@satrail/core/ledger/Event"
import type { Change } from "@satrail/core/service/Changes"
import { all, type features } from "../features/core.ts"

// Distributes over the union, because `keyof` of a union has only the keys common to all members.
type EventsOf<F> = F extends { readonly events: infer E } ? keyof E & string : never

/** Every type of event that can be published. */
export type Type = Event.Type | EventsOf<(typeof features)[number]>

const ofFeatures: ReadonlyArray<readonly [string, string | null]> = all.flatMap(({ events }) =>
  Object.entries(events)
)

/**
 * Every type of event, with the kind of record that its `subject` identifies. No other types are published.
 */
export const events: ReadonlyMap<string, string | null> = new Map([
  ...Object.entries(Event.subjects),
  ...ofFeatures
])

type Published = NonNullable<Change["event"]>["type"]

/** Does not compile if a Change publishes an event that is not listed here. */
export const isComplete: [Exclude<Published, Type>] extends [never] ? true : never = true

/** The kinds of records that have published events, with the types of those events. */
export const notices = Notice.typesOf(all)

/** All types of published events, in the order of the catalog. */
export const types: ReadonlyArray<Notice.Type> = Object.values(notices).flat()
