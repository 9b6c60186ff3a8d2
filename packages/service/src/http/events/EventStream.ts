import * as ApiKey from "@satrail/core/accounts/ApiKey"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { awaitCacheExpiry } from "@satrail/core/base/ReadCache"
import { Feed } from "@satrail/core/events/Feed"
import * as Notice from "@satrail/core/events/Notice"
import { moreUntil, Tail } from "@satrail/core/events/Tail"
import { Clock, Context, Effect, Option, Schema, Scope, Stream } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Acting from "@satrail/http/edge/Acting"
import { Authentication, elsewhere, isFromAllowed, Scopes } from "@satrail/http/api/Authentication"
import * as Credentials from "@satrail/http/api/Credentials"
import { Decoding, most, onlyOnce, strangeParameter, tooManyParameters } from "@satrail/http/wire/Decoding"
import * as Errors from "@satrail/http/wire/Errors"
import * as EventBody from "./EventBody.ts"
import * as EventIds from "@satrail/http/wire/EventIds"
import * as Events from "@satrail/http/wire/Events"
import * as Exchange from "@satrail/http/edge/Exchange"
import { make } from "@satrail/http/edge/Extension"
import { Lanes } from "@satrail/http/edge/Lanes"
import { RequestRates } from "@satrail/http/edge/RequestRates"
import type { Member } from "@satrail/http/api/SignedIn"
import { filterOf, placeOf, query } from "@satrail/http/wire/EventFilters"
import { pageOf, section } from "./Feed.ts"

/**
 * Maximum open streams in a process, per key, per company and in total. Every stream reads each event of its
 * company, so a company's limit does not grow with its keys.
 */
export const streamsPerKey = 5
export const streamsPerCompany = 100
export const maxStreams = 2000

/** Cursor of a stream that starts with the oldest stored event. */
const oldest = "oldest"

/** Delay before an EventSource reconnects after its stream ends. */
export const retryMillis = 3000

/** Longest time that a timer can measure. */
const longestMillis = 2 ** 31 - 1

// Number of events read at a time. It keeps the data waiting for a slow reader below 1 MB.
const pageSize = 40

/**
 * Documentation of the stream. Its response does not end, so its routes are mounted with a separate policy.
 */
const endpoint = HttpApiEndpoint.get("streamEvents", "/v1/events/stream", {
  headers: {
    "last-event-id": Schema.optionalKey(
      Schema.String.annotate({
        description:
          "Id of the last event you received. An EventSource sends it automatically when it reconnects",
        examples: ["evt_SpK3u0vTnOq1cVhpJ4ySGA"]
      })
    )
  },
  query,
  success: EventBody.Event.pipe(HttpApiSchema.asJson({ contentType: "text/event-stream" })),
  error: Errors.of("malformed", "cursor_too_old", "overloaded", "store_unavailable")
})
  .annotate(Scopes, ["read"])
  .annotate(OpenApi.Summary, "Stream events")
  .annotate(
    OpenApi.Description,
    `Streams events as they happen, as server-sent events. The stream starts after \`Last-Event-ID\` or \`cursor\` (which can be \`${oldest}\`), or with the next event if neither is given. Each message has the event's id as \`id\`, its type as \`event\`, and the event as JSON in \`data\`, as described by the schema. The response stays open for up to 15 minutes, so read it incrementally. Each process allows ${streamsPerKey} open streams per key and ${streamsPerCompany} per company. Requires the \`read\` scope.`
  )
  .middleware(Decoding)
  .middleware(Authentication)

/** The events section including the stream, for the OpenAPI documents. */
export const group = section.group.add(endpoint)

/** The stream's name in the audit log. */
const operation: Acting.Operation = { group: { identifier: "events" }, endpoint: { identifier: "stream" } }

const parameters = ["cursor", "types", "subject"]

/** Decodes the query, or fails with its issues. */
const asked = (request: HttpServerRequest.HttpServerRequest) => {
  const { searchParams } = new URL(request.url, "http://localhost")
  if (searchParams.size > most.parameters) return Effect.fail(tooManyParameters(searchParams.size))
  const issues = [...new Set(searchParams.keys())].flatMap((name) => {
    if (!parameters.includes(name)) return [strangeParameter(name, parameters)]
    return searchParams.getAll(name).length > 1 ? [{ path: name, message: onlyOnce }] : []
  })
  const [cursor, types, subject] = parameters.map((name) => searchParams.get(name) ?? undefined)
  if (issues.length > 0) return Effect.fail(Errors.malformedRequest(issues))
  const filters = { ...(types !== undefined && { types }), ...(subject !== undefined && { subject }) }
  // A reconnecting EventSource sends its position in a header and keeps the URL.
  const last = request.headers["last-event-id"]
  return Effect.succeed(
    last === undefined
      ? { filters, cursor, path: "cursor" }
      : { filters, cursor: last, path: "last-event-id" }
  )
}

const routes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { ofKey, refuse } = yield* RequestRates
    const [acting, proxies] = [yield* Acting.make, yield* Acting.Proxies]
    const credentials = yield* Credentials.make
    const [feed, tail, ids] = [yield* Feed, yield* Tail, yield* EventIds.Ids]
    // The layer's context without its scope, so that each request releases its resources when it ends.
    const context = Context.omit(Scope.Scope)(yield* Effect.context<Scope.Scope>())
    const inLane = yield* Lanes
    const render = EventBody.render(ids)
    const open = new Map<string, number>()

    /**
     * Waits until `validUntil` has passed, because the key may expire or be revoked while the stream is open. A
     * revocation or rotation is an event, too.
     */
    const lost = Effect.fnUntraced(function* (
      companyId: CompanyId.CompanyId,
      validUntil: Effect.Effect<number>
    ) {
      const more = Effect.andThen(yield* tail.listen(companyId), awaitCacheExpiry)
      for (
        let leftMillis = longestMillis;
        leftMillis > 0;
        leftMillis = (yield* validUntil) - (yield* Clock.currentTimeMillis)
      )
        yield* Effect.timeoutOption(more, Math.min(leftMillis, longestMillis))
    }, Effect.scoped)

    /**
     * Ends when `validUntil` has passed, so that no event is sent between a revocation and its event. While none matches,
     * the reader's position still moves, or it would become too old, and each connection would read all events again.
     */
    const follow = (
      companyId: CompanyId.CompanyId,
      begin: Notice.Place,
      filter: Effect.Success<ReturnType<typeof filterOf>>,
      validUntil: Effect.Effect<number>
    ) =>
      Stream.unwrap(
        Effect.map(tail.listen(companyId), (more) => {
          let toldMillis = 0
          return Stream.paginate(
            begin,
            Effect.fnUntraced(function* (after: Notice.Place) {
              const page = feed.page({ companyId, after, limit: pageSize, ...filter }, render)
              const { items, next, againAtMillis } = yield* inLane(companyId)(page)
              if (items.length === 0 && next === after) yield* moreUntil(more, againAtMillis)
              const nowMillis = yield* Clock.currentTimeMillis
              if (items.length > 0 && (yield* validUntil) <= nowMillis) return [[], Option.none()] as const
              const isDue = next !== after && nowMillis - toldMillis >= Events.heartbeatMillis
              if (items.length > 0 || isDue) toldMillis = nowMillis
              if (items.length === 0)
                return [isDue ? [{ id: ids.write(next, companyId) }] : [], Option.some(next)] as const
              const events = items.map(({ place, type, body }) => ({
                id: ids.write(place, companyId),
                event: type,
                data: body
              }))
              return [events, Option.some(next)] as const
            })
          )
        })
      )

    /**
     * Takes one of the slots of a key or company. The slot is released when the request's scope closes, which is
     * when the stream ends.
     */
    const place = (who: "key" | "company", id: string, most: number) =>
      Effect.acquireRelease(
        Effect.suspend(() => {
          const others = open.get(id) ?? 0
          if (others >= most)
            return Effect.fail(
              Errors.failure("overloaded", `This ${who} already has ${most} open streams. Close one first.`)
            )
          open.set(id, others + 1)
          return Effect.void
        }),
        () =>
          Effect.sync(() => {
            const left = (open.get(id) ?? 1) - 1
            if (left === 0) open.delete(id)
            else open.set(id, left)
          })
      )

    const answer = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const shown = credentials.member(request)
      const caller: Member = yield* shown.pipe(Effect.catch(refuse))
      const { apiKey } = caller
      const { companyId, id } = apiKey
      const refused = (code: string) => acting.refused(Acting.member(caller), operation, code)
      yield* Exchange.noting({ key: id })(
        Effect.tapError(ofKey?.(Credentials.rateOf(caller)) ?? Effect.void, () => refused("rate_limited"))
      )
      const isNear = ({ apiKey }: Member) => isFromAllowed(apiKey, false, request, proxies)
      const validUntil = Effect.match(shown, {
        onSuccess: (member) => (isNear(member) ? (member.apiKey.expiresAtMillis ?? Infinity) : 0),
        onFailure: () => 0
      })
      if (!isNear(caller)) {
        yield* refused(elsewhere.error.code)
        return yield* Effect.fail(elsewhere)
      }
      if (!ApiKey.allows(apiKey, "read")) {
        yield* refused("scope_required")
        return yield* Effect.fail(
          Errors.failure("scope_required", "This request requires a key with the scope read.")
        )
      }
      const { filters, cursor, path } = yield* asked(request)
      const filter = yield* filterOf(feed.types, filters)
      yield* place("key", id, streamsPerKey)
      yield* place("company", companyId, streamsPerCompany)
      const begin =
        cursor === undefined
          ? yield* Errors.answered(feed.now)
          : cursor === oldest
            ? Notice.first
            : yield* placeOf(ids, companyId, cursor, path)
      // Read once before the stream starts, because an error can no longer change the status afterwards.
      yield* inLane(companyId)(pageOf(feed, ids, { companyId, after: begin, limit: 1, ...filter }))
      const events = Stream.interruptWhen(
        follow(companyId, begin, filter, validUntil),
        lost(companyId, validUntil)
      ).pipe(
        Stream.catchCause((cause) =>
          // The reader reconnects and resumes where it stopped.
          Stream.drain(Stream.fromEffect(Effect.logWarning("events: a stream ended", cause)))
        )
      )
      return Events.answer(events, { retryMillis, id: ids.write(begin, companyId) })
    })

    yield* router.add("GET", "/v1/events/stream", (request) =>
      answer(request).pipe(
        Effect.catch((failure: Errors.Failure) =>
          Effect.succeed(HttpServerResponse.jsonUnsafe(failure, { status: failure.status }))
        ),
        Effect.provideContext(context)
      )
    )
  })
)

/** `GET /v1/events/stream`: server-sent events of the company whose key is in the header. */
export const extension = make(routes, { maxStreams })
