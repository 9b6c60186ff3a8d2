import * as Characters from "@satrail/core/base/Characters"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Notice from "@satrail/core/events/Notice"
import { Effect, Schema } from "effect"
import * as Errors from "./Errors.ts"
import type * as EventIds from "./EventIds.ts"

/** The id of an event. */
export const EventId = Schema.String.annotate({ examples: ["evt_SpK3u0vTnOq1cVhpJ4ySGA"] })

/** Maximum number of filters in an endpoint's settings or a query. */
export const maxFilters = 64

/** Pattern of a filter. Whether any type matches depends on the features of the service, which `Feed.types` lists. */
export const filterPattern = "^[^.*]+(?:\\.[^.*]+)*\\.(?:[^.*]+|\\*)$"

/** Returns the problem with a list of filters, or undefined. */
const typesIssue = (text: string, known: ReadonlyArray<string>): string | undefined => {
  const filters = text.split(",", maxFilters + 1)
  if (filters.length > maxFilters) return `types can have at most ${maxFilters} filters`
  for (const filter of filters) {
    const issue = Notice.filterIssue(filter, known)
    if (issue !== undefined) return issue
  }
  return undefined
}

const Types = Schema.String.annotate({
  description: "Event types, separated by commas. `deposit.*` selects all types with that prefix",
  examples: ["deposit.*,withdrawal.lightning.completed"]
})

/** Query parameters of the feed and the stream. */
export const query = {
  cursor: Schema.optionalKey(
    EventId.annotate({
      description:
        "Start of the page, from a `Link` header: the page begins after this event. Any event id is a valid cursor"
    })
  ),
  types: Schema.optionalKey(Types),
  subject: Schema.optionalKey(
    Schema.String.check(Characters.atMost(253)).annotate({
      description: "Selects events of one record, by its id (for a domain, by its name)"
    })
  )
}

/** Decodes the filters of a query. Fails if no type matches one of them. */
export const filterOf = (
  known: ReadonlyArray<string>,
  { types, subject }: { readonly types?: string; readonly subject?: string }
) => {
  const message = types === undefined ? undefined : typesIssue(types, known)
  if (message !== undefined) return Effect.fail(Errors.malformedRequest([{ path: "types", message }]))
  return Effect.succeed({
    ...(types !== undefined && {
      types: new Set(types.split(",").flatMap((filter) => Notice.matching<string>(filter, known)))
    }),
    ...(subject !== undefined && { subject: subject.toLowerCase() })
  })
}

/** Returns the position that a cursor encodes. `path` is the name of its field. */
export const placeOf = (
  ids: EventIds.EventIds,
  companyId: CompanyId.CompanyId | null,
  cursor: string,
  path = "cursor"
) => {
  const place = ids.read(cursor, companyId)
  const message = "must be the id of an event of this company, or a cursor from a Link header"
  return place === undefined
    ? Effect.fail(Errors.malformedRequest([{ path, message }]))
    : Effect.succeed(place)
}
