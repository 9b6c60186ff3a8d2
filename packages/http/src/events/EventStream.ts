import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Feed } from "@satrail/core/events/Feed"
import type * as Notice from "@satrail/core/events/Notice"
import { Tail } from "@satrail/core/events/Tail"
import { Context, Effect, Option, Schema, Scope, Stream } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Acting from "../edge/Acting.ts"
import { Authentication, credentialOf, elsewhere, isFromAllowed, Scopes } from "../api/Authentication.ts"
import { Decoding, strangeParameter } from "../wire/Decoding.ts"
import * as Errors from "../wire/Errors.ts"
import * as EventBody from "./EventBody.ts"
import * as EventIds from "../wire/EventIds.ts"
import * as Events from "../wire/Events.ts"
import * as Exchange from "../edge/Exchange.ts"
import { make } from "../edge/Extension.ts"
import { RequestRates } from "../edge/RequestRates.ts"
import { SignedIn } from "../api/SignedIn.ts"
import { filterIssue, filterOf, pageOf, placeOf, query, section } from "./Feed.ts"
import * as Section from "../api/Section.ts"

/** How many streams one key may have open in a process, and how many there may be in all. */
export const streamsPerKey = 5
export const maxStreams = 2000

/** After how long an EventSource whose stream ended comes back. */
export const retryMillis = 3000

// What is read at once, and so what a reader who does not read has waiting here: less than 1 MB.
const pageSize = 40

/** What the documents say of it. Its answer has no end, so the routes below are mounted with a policy of their own. */
const endpoint = Section.plain(
  HttpApiEndpoint.get("streamEvents", "/v1/events/stream", {
    headers: {
      "last-event-id": Schema.optionalKey(
        Schema.String.annotate({
          description: "The id of the last event that you have received. An EventSource sends it when it connects again",
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
      `Server-sent events, as they happen: those after \`Last-Event-ID\` or \`cursor\`, otherwise from now on. Each has the event's id as \`id\`, its type as \`event\`, and the event as JSON in \`data\`, which is what the schema describes. The response does not end by itself for up to 15 minutes: read it as it arrives. A key may have ${streamsPerKey} streams open in one process. Needs the scope \`read\`.`
    )
)
  .middleware(Decoding)
  .middleware(Authentication)

/** The section of events with its stream, for the documents. */
export const group = section.group.add(endpoint)

/** As the audit log names it. */
const operation: Acting.Operation = { group: { identifier: "events" }, endpoint: { identifier: "stream" } }

const parameters = ["cursor", "types", "subject"]

/** What was asked for, or what is wrong with it. */
const asked = (request: HttpServerRequest.HttpServerRequest) => {
  const { searchParams } = new URL(request.url, "http://localhost")
  const issues = [...searchParams.keys()].flatMap((name) => (parameters.includes(name) ? [] : [strangeParameter(name, parameters)]))
  const [cursor, types, subject] = parameters.map((name) => searchParams.get(name) ?? undefined)
  const wrong = types?.split(",").flatMap((filter) => filterIssue(filter) ?? [])[0]
  if (wrong !== undefined) issues.push({ path: "types", message: wrong })
  if (issues.length > 0) return Effect.fail(Errors.malformedRequest(issues))
  const filter = filterOf({ ...(types !== undefined && { types }), ...(subject !== undefined && { subject }) })
  // An EventSource that comes back says where it was in a header, under the same URL.
  return Effect.succeed({ filter, cursor: request.headers["last-event-id"] ?? cursor })
}

const routes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { ofKey, refuse } = yield* RequestRates
    const [acting, proxies] = [yield* Acting.make, yield* Acting.Proxies]
    const [apiKeys, feed, tail, ids] = [yield* ApiKeys, yield* Feed, yield* Tail, yield* EventIds.Ids]
    // All of the layer's but its scope: what a request takes it gives back when it ends.
    const context = Context.omit(Scope.Scope)(yield* Effect.context<Scope.Scope>())
    const signedIn = yield* SignedIn
    const render = EventBody.render(ids)
    const open = new Map<string, number>()

    const follow = (companyId: CompanyId.CompanyId, begin: Notice.Place, filter: ReturnType<typeof filterOf>) =>
      Stream.unwrap(
        Effect.map(tail.listen(companyId), (more) =>
          Stream.paginate(
            begin,
            Effect.fnUntraced(function* (after: Notice.Place) {
              const { items, next } = yield* feed.page({ companyId, after, limit: pageSize, ...filter }, render)
              if (items.length === 0 && next === after) yield* more
              const events = items.map(({ place, type, body }) => ({ id: ids.write(place, companyId), event: type, data: body }))
              return [events, Option.some(next)] as const
            })
          )
        )
      )

    /** One of the key's places, for as long as the request's scope is open: until its stream has ended. Whoever asks for many at once gets no more either. */
    const place = (keyId: string) =>
      Effect.acquireRelease(
        Effect.suspend(() => {
          const others = open.get(keyId) ?? 0
          if (others >= streamsPerKey)
            return Effect.fail(Errors.failure("overloaded", `This key has ${streamsPerKey} streams open already: close one`))
          open.set(keyId, others + 1)
          return Effect.void
        }),
        () =>
          Effect.sync(() => {
            const left = (open.get(keyId) ?? 1) - 1
            if (left === 0) open.delete(keyId)
            else open.set(keyId, left)
          })
      )

    const answer = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const shown = signedIn.company(request) ?? Errors.answered(apiKeys.check(credentialOf(request.headers["authorization"])))
      const { apiKey } = yield* shown.pipe(Effect.catch(refuse))
      const { companyId, id } = apiKey
      const refused = (code: string) => acting.refused(Acting.keyed(apiKey), operation, code)
      yield* Exchange.noting({ key: id })(Effect.tapError(ofKey?.(id) ?? Effect.void, () => refused("rate_limited")))
      if (!isFromAllowed(apiKey, false, request, proxies)) {
        yield* refused(elsewhere.error.code)
        return yield* Effect.fail(elsewhere)
      }
      if (!ApiKey.allows(apiKey, "read")) {
        yield* refused("scope_required")
        return yield* Effect.fail(Errors.failure("scope_required", "This needs a key with the scope read"))
      }
      const { filter, cursor } = yield* asked(request)
      yield* place(id)
      const begin = cursor === undefined ? yield* Errors.answered(feed.now) : yield* placeOf(ids, companyId, cursor)
      // Told before the stream begins, since there is no status afterwards.
      yield* pageOf(feed, ids, { companyId, after: begin, limit: 1, ...filter })
      const events = Stream.catchCause(follow(companyId, begin, filter), (cause) =>
        // The reader comes back by itself, and goes on where it was.
        Stream.drain(Stream.fromEffect(Effect.logWarning("events: a stream ended", cause)))
      )
      return Events.answer(events, { retryMillis })
    })

    yield* router.add("GET", "/v1/events/stream", (request) =>
      answer(request).pipe(
        Effect.catch((failure: Errors.Failure) => Effect.succeed(HttpServerResponse.jsonUnsafe(failure, { status: failure.status }))),
        Effect.provideContext(context)
      )
    )
  })
)

/** `GET /v1/events/stream`: server-sent events of the company whose key is in the header. */
export const extension = make(routes, { maxStreams })
