import * as JsonText from "@satrail/core/base/JsonText"
import { Cause, Context, Deferred, Effect, References, Stream } from "effect"
import { HttpBody, HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Errors from "../wire/Errors.ts"
import * as Exchange from "./Exchange.ts"
import { maxStreamMillis, maxStreams } from "./Extension.ts"
import { type Index, type Mounted, Paths, type Policy } from "./Paths.ts"
import * as Refusals from "./Refusals.ts"
import { answer, notFound } from "./Refusals.ts"
import * as RequestId from "./RequestId.ts"

/** How requests are taken in. */
export interface Options {
  /** Web pages of these origins may call the API from a browser: `https://shop.example`, or `*` for all. None unless given. */
  readonly corsOrigins?: ReadonlyArray<string>
  /** The largest body that is read. 64 KiB unless given. */
  readonly maxBodyBytes?: number
  /** A request that changes something or asks the outside, and takes longer, is answered 503. 30 s unless given. */
  readonly timeoutMillis?: number
  /** Whether a request without `Host` is refused (RFC 9112, section 3.2), where nothing before us does. Not unless given. */
  readonly wantsHost?: boolean
  /** How many reverse proxies of the operator's own stand in front, each adding to `X-Forwarded-For` who asked it. None unless given. */
  readonly proxies?: number
  /** Where the service is reached from outside, `https://pay.example.com`: links in errors begin with it. Without it they are paths. */
  readonly publicUrl?: string | undefined
  /** Whether a line is logged for each request: method, route, status, time, key and request id. Not unless given. */
  readonly logsRequests?: boolean
  /** Completes when the server begins to close: streams end then, or when the routes are closed. */
  readonly closing?: Effect.Effect<void>
}

export const maxBodyBytes = 64 * 1024
export const timeoutMillis = 30_000

const isJson = (response: HttpServerResponse.HttpServerResponse): boolean =>
  response.headers["content-type"]?.startsWith("application/json") === true ||
  (response.body._tag !== "Empty" && response.body.contentType?.startsWith("application/json") === true)

const tooLarge = (bytes: number) => answer(Errors.failure("body_too_large", `The body has more than ${bytes} bytes`))

/** An envelope for what the framework writes by itself: nothing at all, or a line about the type of a body. What has words of its own keeps them. */
const enveloped = (response: HttpServerResponse.HttpServerResponse) => {
  if (response.status < 400 || isJson(response)) return response
  if (response.status === 415)
    return answer(Errors.failure("unsupported_media_type", "The body must be sent as Content-Type: application/json"))
  if (response.body._tag !== "Empty") return response
  return response.status === 404 ? notFound : answer(Errors.failure("internal", "The request failed"))
}

/** The body of an error, with what leads on from it. What is no error's envelope stays as it is. */
const addressed = (response: HttpServerResponse.HttpServerResponse, requestId: string, publicUrl: string | undefined) => {
  const { body, status } = response
  if (status < 400 || body._tag !== "Uint8Array" || !isJson(response)) return response
  const failure = JsonText.parsed(new TextDecoder().decode(body.body))
  if (!Errors.isFailure(failure)) return response
  return HttpServerResponse.setBody(response, HttpBody.jsonUnsafe(Errors.addressed(failure, requestId, publicUrl)))
}

const stopping = answer(Errors.failure("stopping", "The service is being stopped: try again in a moment"))

/** Whether the client has disconnected: a response would reach no reader. */
const isGone = (cause: Cause.Cause<unknown>): boolean =>
  Cause.hasInterruptsOnly(cause) &&
  cause.reasons.some((reason) => reason._tag === "Interrupt" && reason.annotations.has(HttpServerError.ClientAbort.key))

/** Behind an unconfigured proxy, every payer is the proxy, and the limits for one caller are the limits for all. */
const forwardingIsNotRead =
  "X-Forwarded-For: received and ignored: all callers behind a proxy count as one. " +
  "With reverse proxies of your own in front, set SATRAIL_PROXIES to their number; without any, the client sent the header itself."

/** What an answer says of itself that it depends on, and what CORS adds to that. */
const withVary = (cors: Readonly<Record<string, string>>, vary: string | undefined): Readonly<Record<string, string>> =>
  vary === undefined || cors["vary"] === undefined ? cors : { ...cors, vary: `${vary}, ${cors["vary"]}` }

/** What certain statuses owe their reader. */
const owed: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { "www-authenticate": "Bearer" },
  415: { "accept-encoding": "identity" },
  429: { "retry-after": String(Errors.retryAfterSeconds) },
  503: { "retry-after": String(Errors.retryAfterSeconds) }
}

/** What every answer has, and what its own exchange adds. */
const securityOf = ({ headers, id }: Exchange.Exchange) => ({
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  "x-request-id": id,
  ...headers
})

const corsHeaders = "access-control-allow-origin"

/** Which pages may read answers, and what they may see of them. */
const corsOf = (origins: ReadonlySet<string>) => (request: HttpServerRequest.HttpServerRequest, mounted: Mounted | undefined) => {
  if (mounted?.policy.cors === "any") return { [corsHeaders]: "*" }
  const origin = request.headers["origin"]
  if (origin === undefined || !(origins.has(origin) || origins.has("*"))) return { vary: "Origin" }
  return {
    [corsHeaders]: origin,
    "access-control-expose-headers": "Link, Idempotency-Replayed, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id",
    vary: "Origin"
  }
}

/** What routes are held to whose policy does not say otherwise. */
export const policyOf = (options: Options): Policy => ({
  cors: "listed",
  maxBodyBytes: options.maxBodyBytes ?? maxBodyBytes,
  timeoutMillis: options.timeoutMillis ?? timeoutMillis,
  // Reading has no body, and waits for the store alone, which limits its own time: a limit here too would cost a tenth of the request.
  limitsReads: false,
  headers: {},
  allowsEscapedLetters: false,
  maxStreams,
  maxStreamMillis
})

const tooManyStreams = answer(Errors.failure("overloaded", "There are as many streams open here as may be: try again in a moment"))

/** Who saves a file would take its first part for the whole. */
const cutShort = Effect.fail(new Error("the file was cut short: it took too long, or the service is closing"))

const isFile = ({ headers }: HttpServerResponse.HttpServerResponse): boolean =>
  headers["content-disposition"]?.startsWith("attachment") === true

/** A stream counts from here until its last byte was sent or its reader has gone, and ends in time, and when the service is closing: a file breaks off then. */
const streamed = Effect.fnUntraced(function* (
  response: HttpServerResponse.HttpServerResponse,
  mounted: Mounted | undefined,
  closing: Effect.Effect<void>
) {
  if (mounted === undefined || response.body._tag !== "Stream") return response
  const { maxStreams, maxStreamMillis } = mounted.policy
  if (mounted.openStreams >= maxStreams) return tooManyStreams
  mounted.openStreams++
  yield* Effect.addFinalizer(() => Effect.sync(() => mounted.openStreams--))
  const { stream, contentType, contentLength } = response.body
  const end = Effect.raceFirst(closing, Effect.sleep(maxStreamMillis))
  const ended = Stream.interruptWhen(stream, isFile(response) ? Effect.andThen(end, cutShort) : end)
  return HttpServerResponse.setBody(response, HttpBody.stream(ended, contentType, contentLength))
})

/** What is answered for a failure that no route has answered itself. */
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
      const methods = paths.methodsAt(request.url)
      // Of a path that has the method, the route itself did not find what was asked for: a file, say.
      if (methods.length === 0 || methods.includes(request.method)) return notFound
      const allow = methods.join(", ")
      return answer(Errors.failure("method_not_allowed", `${request.method} is not one of this route's methods: ${allow}`), { allow })
    }
    if (error.reason._tag === "RequestParseError") {
      return error.reason.reason === "BodyTooLarge"
        ? tooLarge(paths.at(request.url)?.policy.maxBodyBytes ?? limitBytes)
        : answer(Errors.malformedRequest([{ path: "", message: "The body could not be read to its end" }]))
    }
  }
  yield* Effect.logError("request: crashed", { method: request.method, path: request.url.split("?")[0] }, cause)
  return answer(Errors.failure("internal", `Internal error. Reference: ${id}`))
})

/**
 * What is done for every request, whatever it asks for: an envelope also for an unknown route, a wrong method, a crash; CORS, and the headers
 * that a JSON API should send; an end of streams. What is done by path is in Extension.ts.
 */
export const layer = (options: Options = {}) => {
  const { maxBodyBytes: limitBytes } = policyOf(options)
  const { publicUrl, wantsHost = false, logsRequests = false } = options
  const origins = new Set(options.corsOrigins)
  const corsFor = corsOf(origins)

  /** An OPTIONS request, a browser's preflight or not. A browser whose origin is not allowed gets no header that would let it go on. */
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
    // What most answers are, without the detours.
    if (response.status < 400 && origins.size === 0 && response.headers["cache-control"] === undefined && request.method !== "OPTIONS") {
      return HttpServerResponse.setHeaders(response, securityOf(exchange))
    }
    const told = addressed(enveloped(response), exchange.id, publicUrl)
    // Of what succeeded, the route has said what any origin may read.
    const mounted = response.status >= 400 || request.method === "OPTIONS" ? paths.at(request.url) : undefined
    const isOpen = (origins.size > 0 || mounted?.policy.cors === "any") && told.headers[corsHeaders] === undefined
    return HttpServerResponse.setHeaders(told, {
      ...owed[told.status],
      ...securityOf(exchange),
      ...told.headers,
      "x-content-type-options": "nosniff",
      [RequestId.header]: exchange.id,
      ...(isOpen && withVary(corsFor(request, mounted), told.headers["vary"]))
    })
  }

  /** Whether more is sent than is read, as far as the headers say so. */
  const isTooLarge = ({ headers, url }: HttpServerRequest.HttpServerRequest, paths: Index): number | undefined => {
    const length = Number(headers["content-length"] ?? 0)
    if (!(length > limitBytes)) return undefined
    const most = paths.at(url)?.policy.maxBodyBytes ?? limitBytes
    return length > most ? most : undefined
  }

  /** What is answered whatever the route would say. */
  const refusalOf = (request: HttpServerRequest.HttpServerRequest, paths: Index) => {
    const refusal = Refusals.of(request, wantsHost, paths.allowsEscapedLetters)
    if (refusal !== undefined) return refusal
    if (request.method === "OPTIONS") return optionsAt(request, paths)
    const most = isTooLarge(request, paths)
    return most === undefined ? undefined : tooLarge(most)
  }

  return HttpRouter.middleware(
    Effect.gen(function* () {
      // What is logged for a request goes where the layer's own log goes, also when a host's web server runs it.
      const surrounding = yield* Effect.context<never>()
      const annotations = Context.get(surrounding, References.CurrentLogAnnotations)
      const context = Context.omit(References.CurrentLogAnnotations)(surrounding)
      const paths = yield* Paths
      const closed = yield* Deferred.make<void>()
      yield* Effect.addFinalizer(() => Deferred.succeed(closed, undefined))
      if (options.closing !== undefined) yield* Effect.forkScoped(Effect.andThen(options.closing, Deferred.succeed(closed, undefined)))
      const closing = Deferred.await(closed)

      let isForwardingKnown = (options.proxies ?? 0) > 0
      const warn = Effect.suspend(() => {
        isForwardingKnown = true
        return Effect.provideContext(Effect.logWarning(forwardingIsNotRead), context)
      })

      const record = Exchange.recorder(context, logsRequests)

      return (http) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
          const exchange = Exchange.make(RequestId.of(request.headers[RequestId.header]))
          /** The answer, complete, noted. */
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
          // The framework runs us uninterruptibly: a client that disconnects ends the work only if we let it.
          const served = Effect.matchCauseEffect(Effect.interruptible(http), {
            onSuccess: (response) =>
              response.body._tag === "Stream" ? Effect.flatMap(streamed(response, paths.at(request.url), closing), told) : told(response),
            onFailure: (cause) => {
              if (isGone(cause)) return unanswered(cause)
              if (Cause.hasInterruptsOnly(cause)) return told(stopping)
              return Effect.flatMap(Effect.provideContext(failed(request, exchange.id, cause, paths, limitBytes), context), told)
            }
          })
          const isToWarn = !isForwardingKnown && request.headers["x-forwarded-for"] !== undefined
          const refused = refusalOf(request, paths)
          const answered = refused === undefined ? (isToWarn ? Effect.andThen(warn, served) : served) : told(refused)
          return RequestId.annotated(exchange, annotations)(answered)
        })
    }),
    { global: true }
  )
}
