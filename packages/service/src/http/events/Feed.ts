import type * as CompanyId from "@satrail/core/base/CompanyId"
import { type Ask, Feed, limit, maxLooked } from "@satrail/core/events/Feed"
import * as Notice from "@satrail/core/events/Notice"
import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { companyId, Scopes } from "@satrail/http/api/Authentication"
import * as Envelope from "@satrail/http/wire/Envelope"
import * as Errors from "@satrail/http/wire/Errors"
import { EventId, filterOf, placeOf, query } from "@satrail/http/wire/EventFilters"
import * as EventBody from "./EventBody.ts"
import * as EventIds from "@satrail/http/wire/EventIds"
import { Example, type World } from "@satrail/http/wire/Examples"
import * as Page from "@satrail/http/wire/Page"
import * as Scalars from "@satrail/http/wire/Scalars"
import * as Section from "@satrail/http/api/Section"
import * as Deposits from "@satrail/http/resources/Deposits"

const path = "/v1/events"

/** Reads a page. If the cursor is too old, the error names the cursor of the oldest events. */
export const pageOf = Effect.fnUntraced(function* (
  feed: Feed["Service"],
  ids: EventIds.EventIds,
  ask: Ask & { readonly companyId: CompanyId.CompanyId }
) {
  const tooOld = Effect.gen(function* () {
    const oldest = ids.write(yield* Errors.answered(feed.oldest(ask.companyId)), ask.companyId)
    const message = `Events after this cursor have been deleted. Those that remain begin after the cursor ${oldest}`
    return yield* Effect.fail(Errors.failure("cursor_too_old", message))
  })
  const page = feed
    .page(ask, EventBody.render(ids))
    .pipe(Effect.catchTag("CursorTooOld", () => Effect.succeed(undefined)))
  return (yield* Errors.answered(page)) ?? (yield* tooOld)
})

const exampleOf = (world: World) => {
  const ids = EventIds.make(world.eventKey)
  const record = { ...Deposits.example(world), metadata: world.metadata }
  const place = { event: 4_296_704n, part: 1 }
  const notice: Notice.Notice = {
    kind: "deposit",
    type: "deposit.lightning.completed",
    record,
    place,
    companyId: world.companyId,
    atMillis: record.createdAtMillis,
    subject: record.id
  }
  const data: unknown = JSON.parse(EventBody.render(ids)(notice))
  return { id: ids.write(place, world.companyId), data }
}

export const list = Section.company(
  HttpApiEndpoint.get("listEvents", path, {
    query: {
      ...query,
      limit: Schema.optionalKey(
        Scalars.intFromText({
          minimum: 1,
          maximum: limit.maximum,
          description: `Maximum events per page, 1 to ${limit.maximum}. Default: ${limit.default}. Pages of large events are shorter`
        })
      )
    },
    success: Page.success(Schema.Array(EventBody.Event)),
    error: Errors.of("malformed", "cursor_too_old", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "List events")
    .annotate(
      OpenApi.Description,
      `Returns events of the last 90 days, oldest first. The next page is in the \`Link\` header, which is absent at the end: keep the last cursor and use it to poll for new events. With a filter, a page can be short or empty although more events follow, because a page ends after checking ${maxLooked} events. Requires the \`read\` scope.`
    )
    .annotate(Example, (world) => {
      const { data } = exampleOf(world)
      return { message: "Events", data: [data] }
    }),
  Effect.all([Feed, EventIds.Ids]),
  ([feed, ids]) =>
    Effect.fnUntraced(function* ({ query }) {
      const id = yield* companyId
      const { cursor: begin, limit: rows = limit.default, ...filters } = query
      const filter = yield* filterOf(feed.types, filters)
      const after = begin === undefined ? Notice.first : yield* placeOf(ids, id, begin)
      const { items, next } = yield* pageOf(feed, ids, { companyId: id, after, limit: rows, ...filter })
      const data = items.map(({ body }) => body).join(",")
      const page = HttpServerResponse.text(`{"status":200,"message":"Events","data":[${data}]}`, {
        contentType: "application/json"
      })
      // With a filter, the cursor also moves past events that do not match.
      const isEnd = items.length === 0 && next.event === after.event
      return isEnd
        ? page
        : HttpServerResponse.setHeader(
            page,
            "link",
            Page.linkTo(path, { limit: String(rows), ...filters }, ids.write(next, id))
          )
    })
)

export const get = Section.company(
  HttpApiEndpoint.get("getEvent", `${path}/:id`, {
    params: { id: EventId },
    success: Envelope.success(200, EventBody.Event),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Get an event")
    .annotate(
      OpenApi.Description,
      "Returns an event, byte for byte as in the list, the stream and webhooks. Requires the `read` scope."
    )
    .annotate(Example, (world) => {
      const { id, data } = exampleOf(world)
      return { params: { id }, message: "Event", data }
    }),
  Effect.all([Feed, EventIds.Ids]),
  ([feed, ids]) => {
    const render = EventBody.render(ids)
    return Effect.fnUntraced(function* ({ params }) {
      const id = yield* companyId
      const place = ids.read(params.id, id)
      if (place === undefined)
        return yield* Effect.fail(Errors.failure("not_found", "There is no event with this id"))
      const { body } = yield* Errors.answered(feed.get(id, place, render))
      return HttpServerResponse.text(`{"status":200,"message":"Event","data":${body}}`, {
        contentType: "application/json"
      })
    })
  }
)

export const section = Section.make(
  "events",
  {
    title: "Events",
    description: "Everything that happens, in one feed. Read it here, stream it, or have it sent to webhooks"
  },
  [list, get]
)
