import { eventType, plain } from "@satrail/client/Plain"
import type { Event } from "@satrail/client/Records"
import { cursorOf, type Heard } from "@satrail/core/events/Events"
import type { EventIds } from "@satrail/http/wire/EventIds"
import * as Catalogue from "@satrail/service/core/Catalogue"
import * as EventBody from "@satrail/service/http/events/EventBody"
import { invalid } from "./Refusals.ts"

/** An event type, such as `deposit.settled`. */
export type EventType = Event["type"]

/** All event types. */
export const types: ReadonlySet<string> = new Set(Catalogue.types.map(eventType))

/** Returns the position in the core's form. */
export const after = (ids: EventIds, given: string | undefined): string | undefined => {
  if (given === undefined || given === "now") return given
  const place = typeof given === "string" ? ids.read(given, null) : undefined
  if (place === undefined) throw invalid("after", 'must be the id of an event, or "now"')
  return cursorOf(place)
}

/** Converts an event to the client's form. */
export const of = (heard: Heard, ids: EventIds): Event =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the record of an event has the form of the API
  ({
    id: ids.write(heard.place, heard.companyId),
    type: eventType(heard.type),
    at: new Date(heard.atMillis),
    company: heard.companyId,
    subject: heard.subject,
    data: plain(EventBody.dataOf(heard))
  }) as Event
