import * as JsonText from "@satrail/core/base/JsonText"
import { Cause, Context, Deferred, Effect, References, Stream } from "effect"
import { HttpBody, HttpRouter, HttpServerError, HttpServerResponse } from "effect/http"
import type { HttpServerRequest } from "effect/http"
import * as Errors from "../wire/Errors.ts"
import * as Received from "../wire/Received.ts"
import * as Routing from "../wire/Routing.ts"
import * as Disconnect from "./Disconnect.ts"
import * as Exchange from "./Exchange.ts"
import { maxStreamMillis, maxStreams, partingMillis } from "./Extension.ts"
import { type Index, type Mounted, Paths, type Policy } from "./Paths.ts"
import * as Refusals from "./Refusals.ts"
import { answer, notFound, trailingSlash } from "./Refusals.ts"
import * as RequestId from "./RequestId.ts"

/** Options for accepting requests. */
export interface Options {
  /** Origins whose web pages can call the API: `https://shop.example`, or `*` for all. Default: none. */
  readonly corsOrigins?: ReadonlyArray<string>
  /** Maximum body size in bytes. Default: 64 KiB. */
  readonly maxBodyBytes?: number
  /**
   * Time limit for requests that change something or call external services; a slower request returns 503.
   * Default: 30 s.
   */
  readonly timeoutMillis?: number
  /**
   * Whether to reject a request without `Host` (RFC 9112, section 3.2). Needed if no server in front of the
   * service does so. Default: false.
   */
  readonly wantsHost?: boolean
  /**
   * Number of the operator's reverse proxies in front of the service, each of which appends its caller's
   * address to `X-Forwarded-For`. Default: 0.
   */
  readonly proxies?: number
  /** Public base URL, such as `https://pay.example.com`, for links in errors. Without it, links are paths. */
  readonly publicUrl?: string | undefined
  /** Whether to log a line per request: method, route, status, time, key and request id. Default: false. */
  readonly logsRequests?: boolean
  /**
   * Completes when the server starts to close, which ends streams. By default they end when the routes close.
   */
  readonly closing?: Effect.Effect<void>
}

export const maxBodyBytes = 64 * 1024
export const timeoutMillis = 30_000

const isJson = (response: HttpServerResponse.HttpServerResponse): boolean =>
  response.headers["content-type"]?.startsWith("application/json") === true ||
  (response.body._tag !== "Empty" && response.body.contentType?.startsWith("application/json") === true)

const tooLarge = (bytes: number) =>
  answer(Errors.failure("body_too_large", `The body is larger than ${bytes} bytes`))

/**
 * Puts the framework's own error responses in an envelope: empty responses, and those for an unsupported media
 * type. Other responses stay unchanged.
 */
const enveloped = (response: HttpServerResponse.HttpServerResponse) => {
  if (response.status < 400 || isJson(response)) return response
  if (response.status === 415)
    return answer(
      Errors.failure("unsupported_media_type", "The body must be sent as Content-Type: application/json")
    )
  if (response.body._tag !== "Empty") return response
  return response.status === 404 ? notFound : answer(Errors.failure("internal", "An internal error occurred"))
}

/** Adds links and the request id to an error envelope. Other bodies stay unchanged. */
const addressed = (
  response: HttpServerResponse.HttpServerResponse,
  requestId: string,
  publicUrl: string | undefined
) => {
  const { body, status } = response
  if (status < 400 || body._tag !== "Uint8Array" || !isJson(response)) return response
  const failure = JsonText.parsed(new TextDecoder().decode(body.body))
  if (!Errors.isFailure(failure)) return response
  return HttpServerResponse.setBody(
    response,
    HttpBody.jsonUnsafe(Errors.addressed(failure, requestId, publicUrl))
  )
}

const stopping = answer(Errors.failure("stopping", "The service is shutting down. Try again in a moment."))

/** Returns whether the client has disconnected, so that nobody would read a response. */
const isGone = (cause: Cause.Cause<unknown>): boolean =>
  Cause.hasInterruptsOnly(cause) &&
  cause.reasons.some(
    (reason) => reason._tag === "Interrupt" && reason.annotations.has(HttpServerError.ClientAbort.key)
  )

/**
 * Behind a proxy that is not configured, all callers share the proxy's address and therefore its rate limits.
 */
const forwardingIsNotRead =
  "X-Forwarded-For was received and ignored, so all callers behind a proxy count as one. " +
  "If there are reverse proxies in front of the service, set SATRAIL_PROXIES to their number (in your own program, the option `proxies`). " +
  "If there are none, the client sent the header itself, or your framework added it, as Next.js does."

/** Combines a response's `Vary` header with the one for CORS. */
const withVary = (
  cors: Readonly<Record<string, string>>,
  vary: string | undefined
): Readonly<Record<string, string>> =>
  vary === undefined || cors["vary"] === undefined ? cors : { ...cors, vary: `${vary}, ${cors["vary"]}` }

/** Headers that certain statuses require. */
const owed: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { "www-authenticate": "Bearer" },
  415: { "accept-encoding": "identity" },
  429: { "retry-after": String(Errors.retryAfterSeconds) },
  503: { "retry-after": String(Errors.retryAfterSeconds) }
}

/** The headers that every response has, and those that this exchange added. */
const securityOf = ({ headers, id }: Exchange.Exchange) => ({
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  "x-request-id": id,
  ...headers
})

const corsHeaders = "access-control-allow-origin"

/** CORS headers. They state which origins can read responses, and which headers those origins can see. */
const corsOf =
  (origins: ReadonlySet<string>) =>
  (request: HttpServerRequest.HttpServerRequest, mounted: Mounted | undefined) => {
    if (mounted?.policy.cors === "any") return { [corsHeaders]: "*" }
    const origin = request.headers["origin"]
    if (origin === undefined || !(origins.has(origin) || origins.has("*"))) return { vary: "Origin" }
    return {
      [corsHeaders]: origin,
      "access-control-expose-headers":
        "Link, Idempotency-Replayed, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id",
      vary: "Origin"
    }
  }

/** Default policy for routes. */
export const policyOf = (options: Options): Policy => ({
  cors: "listed",
  maxBodyBytes: options.maxBodyBytes ?? maxBodyBytes,
  timeoutMillis: options.timeoutMillis ?? timeoutMillis,
  // Reads have no body and wait only for the store, which has its own time limit. Another limit here would
  // make a read a tenth more expensive.
  limitsReads: false,
  headers: {},
  allowsEscapedLetters: false,
  maxStreams,
  maxStreamMillis
})

const tooManyStreams = answer(
  Errors.failure("overloaded", "The maximum number of streams is open. Try again in a moment.")
)

/** Fails the transfer, so that a client does not save a truncated file as if it were complete. */
const cutShort = Effect.fail(new Error("the file was cut short: it took too long, or the service is closing"))

const isFile = ({ headers }: HttpServerResponse.HttpServerResponse): boolean =>
  headers["content-disposition"]?.startsWith("attachment") === true

/**
 * Counts a stream until its last byte is sent or its reader disconnects. The stream ends after its time limit
 * and when the service closes; a file transfer then fails as incomplete. A reader that has stopped reading does
 * not see the end, so it is disconnected a little later.
 */
const streamed = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse,
  paths: Index,
  closing: Effect.Effect<void>
) {
  const mounted = paths.at(request.url)
  if (mounted === undefined || response.body._tag !== "Stream") return response
  const { maxStreams, maxStreamMillis } = mounted.policy
  if (mounted.openStreams >= maxStreams) return tooManyStreams
  mounted.openStreams++
  yield* Effect.addFinalizer(() => Effect.sync(() => mounted.openStreams--))
  const { stream, contentType, contentLength } = response.body
  const over = yield* Deferred.make<void>()
  const end = Effect.raceFirst(closing, Effect.sleep(maxStreamMillis))
  const disconnect = Disconnect.make(request)
  yield* Effect.forkScoped(
    Effect.andThen(Deferred.into(end, over), Effect.andThen(Effect.sleep(partingMillis), disconnect))
  )
  const ended = Stream.interruptWhen(
    stream,
    isFile(response) ? Effect.andThen(Deferred.await(over), cutShort) : Deferred.await(over)
  )
  return HttpServerResponse.setBody(response, HttpBody.stream(ended, contentType, contentLength))
})

/**
 * Redirects a browser from a path with a trailing slash to the page without it. Other clients get 404, because
 * each path has only one spelling. Undefined if there is no such route without the slash either.
 */
const slashless = ({ method, url, headers }: HttpServerRequest.HttpServerRequest, paths: Index) => {
  const page = Routing.withoutSlash(url)
  if (page === undefined || !paths.methodsAt(page.path).includes(method)) return undefined
  return method === "GET" && headers["accept"]?.includes("text/html") === true
    ? HttpServerResponse.empty({ status: 308, headers: { location: page.location } })
    : trailingSlash
}

/** Responds to a failure that no route handled. */
const failed = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  id: string,
  cause: Cause.Cause<unknown>,
  paths: Index,
  limitBytes: number
) {
  const error = Cause.squash(cause)
  if (HttpServerError.isHttpServerError(error)) {
    if (error.reason._tag === "RouteNotFound") {
      // First, because a path with a trailing slash can match another route, with an empty parameter.
      const other = slashless(request, paths)
      if (other !== undefined) return other
      const methods = paths.methodsAt(request.url)
      // The path supports this method, so the route itself did not find the requested item, such as a file.
      if (methods.length === 0 || methods.includes(request.method)) return notFound
      const allow = methods.join(", ")
      return answer(
        Errors.failure("method_not_allowed", `This route does not support ${request.method}, only ${allow}`),
        { allow }
      )
    }
    if (error.reason._tag === "RequestParseError") {
      return error.reason.reason === "BodyTooLarge"
        ? tooLarge(paths.at(request.url)?.policy.maxBodyBytes ?? limitBytes)
        : answer(
            Errors.malformedRequest([{ path: "", message: "The body was cut off. Send the request again" }])
          )
    }
  }
  yield* Effect.logError(
    "request: crashed",
    { method: request.method, path: request.url.split("?")[0] },
    cause
  )
  return answer(Errors.failure("internal", `Internal error. Reference: ${id}`))
})

/**
 * Handles concerns common to all requests: CORS, standard headers, the end of streams, and envelopes for
 * unknown routes, wrong methods and crashes. Extension.ts handles concerns that depend on the path.
 */
export const layer = (options: Options = {}) => {
  const { maxBodyBytes: limitBytes } = policyOf(options)
  const { publicUrl, wantsHost = false, logsRequests = false } = options
  const origins = new Set(options.corsOrigins)
  const corsFor = corsOf(origins)

  /**
   * Responds to OPTIONS, including preflight requests. If the origin is not allowed, the response has no CORS
   * headers.
   */
  const optionsAt = (request: HttpServerRequest.HttpServerRequest, paths: Index) => {
    const methods = paths.methodsAt(request.url)
    if (methods.length === 0) return notFound
    const allow = methods.join(", ")
    const data = { status: 200, message: "Options", data: { methods } }
    const allowed = {
      "access-control-allow-methods": allow,
      "access-control-allow-headers": "Authorization, Content-Type, Idempotency-Key, X-Request-Id",
      "access-control-max-age": "600"
    }
    const isAllowed = corsHeaders in corsFor(request, paths.at(request.url))
    return HttpServerResponse.jsonUnsafe(data, { status: 200, headers: { allow, ...(isAllowed && allowed) } })
  }

  const finish = (
    request: HttpServerRequest.HttpServerRequest,
    exchange: Exchange.Exchange,
    response: HttpServerResponse.HttpServerResponse,
    paths: Index
  ) => {
    // Fast path for most responses.
    if (
      response.status < 400 &&
      origins.size === 0 &&
      response.headers["cache-control"] === undefined &&
      request.method !== "OPTIONS"
    ) {
      return HttpServerResponse.setHeaders(response, securityOf(exchange))
    }
    const told = addressed(enveloped(response), exchange.id, publicUrl)
    // If any origin may read a successful response, its route has already set the headers.
    const mounted = response.status >= 400 || request.method === "OPTIONS" ? paths.at(request.url) : undefined
    const isOpen =
      (origins.size > 0 || mounted?.policy.cors === "any") && told.headers[corsHeaders] === undefined
    return HttpServerResponse.setHeaders(told, {
      ...owed[told.status],
      ...securityOf(exchange),
      ...told.headers,
      "x-content-type-options": "nosniff",
      [RequestId.header]: exchange.id,
      ...(isOpen && withVary(corsFor(request, mounted), told.headers["vary"]))
    })
  }

  /** Returns the size limit if the headers announce a larger body. */
  const isTooLarge = (
    { headers, url }: HttpServerRequest.HttpServerRequest,
    paths: Index
  ): number | undefined => {
    const length = Number(headers["content-length"] ?? 0)
    if (!(length > limitBytes)) return undefined
    const most = paths.at(url)?.policy.maxBodyBytes ?? limitBytes
    return length > most ? most : undefined
  }

  /** Rejects requests that no route may accept. */
  const refusalOf = (request: HttpServerRequest.HttpServerRequest, paths: Index) => {
    const refusal = Refusals.of(request, wantsHost, paths.allowsEscapedLetters)
    if (refusal !== undefined) return refusal
    if (request.method === "OPTIONS") return optionsAt(request, paths)
    const most = isTooLarge(request, paths)
    return most === undefined ? undefined : tooLarge(most)
  }

  return HttpRouter.middleware(
    Effect.gen(function* () {
      // Log with the layer's own loggers, even if a host's web server runs the request.
      const surrounding = yield* Effect.context<never>()
      const annotations = Context.get(surrounding, References.CurrentLogAnnotations)
      const context = Context.omit(References.CurrentLogAnnotations)(surrounding)
      const paths = yield* Paths
      const closed = yield* Deferred.make<void>()
      yield* Effect.addFinalizer(() => Deferred.succeed(closed, undefined))
      if (options.closing !== undefined)
        yield* Effect.forkScoped(Effect.andThen(options.closing, Deferred.succeed(closed, undefined)))
      const closing = Deferred.await(closed)

      let isForwardingKnown = (options.proxies ?? 0) > 0
      const warn = Effect.suspend(() => {
        isForwardingKnown = true
        return Effect.provideContext(Effect.logWarning(forwardingIsNotRead), context)
      })

      const record = Exchange.recorder(context, logsRequests)

      return (http) =>
        Received.withRequest((request) => {
          const exchange = Exchange.make(RequestId.of(request.headers[RequestId.header]))
          /** Completes the response and records it. */
          const told = (response: HttpServerResponse.HttpServerResponse) =>
            Effect.withFiber<HttpServerResponse.HttpServerResponse>((fiber) => {
              const finished = finish(request, exchange, response, paths)
              record(request, exchange, finished.status, fiber)
              return Effect.succeed(finished)
            })
          const unanswered = <E>(cause: Cause.Cause<E>) =>
            Effect.withFiber<never, E>((fiber) => {
              record(request, exchange, Exchange.gone, fiber)
              return Effect.failCause(cause)
            })
          // The framework runs this uninterruptibly. Allow interruption, so that the work ends when the client
          // disconnects.
          const served = Effect.matchCauseEffect(Effect.interruptible(http), {
            onSuccess: (response) =>
              response.body._tag === "Stream"
                ? Effect.flatMap(streamed(request, response, paths, closing), told)
                : told(response),
            onFailure: (cause) => {
              if (isGone(cause)) return unanswered(cause)
              if (Cause.hasInterruptsOnly(cause)) return told(stopping)
              return Effect.flatMap(
                Effect.provideContext(failed(request, exchange.id, cause, paths, limitBytes), context),
                told
              )
            }
          })
          const isToWarn = !isForwardingKnown && request.headers["x-forwarded-for"] !== undefined
          const refused = refusalOf(request, paths)
          const answered =
            refused === undefined ? (isToWarn ? Effect.andThen(warn, served) : served) : told(refused)
          return RequestId.annotated(exchange, annotations)(answered)
        })
    }),
    { global: true }
  )
}
