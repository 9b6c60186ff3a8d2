import * as Event from "../ledger/Event.ts"
import type { Change } from "./Changes.ts"
import { all, type everything } from "./Following.ts"

// Of each: `keyof` of a union has only what all of them have.
type EventsOf<F> = F extends { readonly events: infer E } ? keyof E & string : never

/** Every type of event that can be published. */
export type Type = Event.Type | EventsOf<(typeof everything)[number]>

const ofFeatures: ReadonlyArray<readonly [string, string | null]> = all.flatMap(({ events }) => Object.entries(events))

/** Every type of event, and the kind of record that its `subject` is the id of. What is published is of one of these types, and of no other. */
export const events: ReadonlyMap<string, string | null> = new Map([...Object.entries(Event.subjects), ...ofFeatures])

type Published = NonNullable<Change["event"]>["type"]

/** No Change publishes what is not in the catalogue: where one did, this would not compile. */
export const isComplete: [Exclude<Published, Type>] extends [never] ? true : never = true
