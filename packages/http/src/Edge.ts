import * as Id from "@satrail/core/base/Id"
import { Cause, Effect, Fiber } from "effect"
import { FindMyWay, HttpIncomingMessage, HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as ByteSize from "effect/ByteSize"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import * as Errors from "./Errors.ts"
import * as Lnurl from "./Lnurl.ts"
import { routerConfig } from "./Routing.ts"

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
}

export const maxBodyBytes = 64 * 1024
export const timeoutMillis = 30_000

const answer = (failure: Errors.Failure, headers: Record<string, string> = {}) =>
  HttpServerResponse.jsonUnsafe(failure, { status: failure.status, headers })

const isJson = (response: HttpServerResponse.HttpServerResponse): boolean =>
  response.headers["content-type"]?.startsWith("application/json") === true ||
  (response.body._tag !== "Empty" && response.body.contentType?.startsWith("application/json") === true)

const tooLarge = (bytes: number) => answer(Errors.failure("body_too_large", `The body has more than ${bytes} bytes`))

const notFound = answer(Errors.failure("not_found", "There is no such route"))

/** An envelope for what the framework writes by itself. */
const enveloped = (response: HttpServerResponse.HttpServerResponse) => {
  if (response.status < 400 || isJson(response)) return response
  if (response.status === 415)
    return answer(Errors.failure("unsupported_media_type", "The body must be sent as Content-Type: application/json"))
  return response.status === 404 ? notFound : answer(Errors.failure("internal", "The request failed"))
}

const malformed = (path: string, message: string) => answer(Errors.malformedRequest([{ path, message }]))

const withoutHost = malformed("host", "Missing: every request names the host it is for")
const strangeHost = malformed("host", "Must be a host name or an IP address, and a port where there is one")
const withFragment = malformed("", "A request target has no fragment: write # as %23")

/** Headers that are sent once: of two lines Node reads the first, and a server in front of us might go by the second. */
const repeated = new Map(["host", "authorization", "content-type"].map((name) => [name, malformed(name, "Given more than once")]))

/** What is more than one name, or more than a name. Letters beyond ASCII are read: wallets send domains as people write them. */
const isHost = (host: string): boolean => !/[\s,@/?#\\]/.test(host)

const stopping = answer(Errors.failure("stopping", "The service is being stopped: try again in a moment"))

/** Whether whoever asked has gone away: there is nobody to answer. */
const isGone = (cause: Cause.Cause<unknown>): boolean =>
  Cause.hasInterruptsOnly(cause) &&
  cause.reasons.some((reason) => reason._tag === "Interrupt" && reason.annotations.has(HttpServerError.ClientAbort.key))

/** Behind a proxy that nobody counts, every payer is the proxy, and the limits for one caller are the limits for all. */
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
  503: { "retry-after": String(Errors.retryAfterSeconds) }
}

/** The router would take it for the beginning of a query. */
const hasSemicolon = (url: string): boolean => url.includes(";") && /^[^?#]*;/.test(url)

/**
 * A letter may be written as its number too (RFC 3986, section 2.3), and the router would read it: whoever stands in front of us and keeps a
 * path from the outside may know the letters only. What wallets add to their path is their own.
 */
const isDisguised = (url: string): boolean =>
  url.includes("%") && /^[^?#]*%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/i.test(url) && !Lnurl.isPublic(url)

/** The path and query of a target in absolute form, `http://host/path?query`, as they are written; of another, all of it. */
const writtenIn = (target: string): string =>
  target.startsWith("/") ? target : target.slice(target.indexOf("/", target.indexOf("//") + 2))

/** What a server in front of us could read otherwise than we would: nobody knows what was meant, and nothing is done. */
const refusalOf = ({ source, url, headers: { host } }: HttpServerRequest.HttpServerRequest, wantsHost: boolean) => {
  if (host !== undefined && !isHost(host)) return strangeHost
  if (!url.startsWith("/") || hasSemicolon(url) || isDisguised(url)) return notFound
  const target = "url" in source && typeof source.url === "string" ? source.url : url
  if (target.includes("#")) return withFragment
  // Node keeps the lines of the headers as they came; of others we know what they made of them.
  const lines = "rawHeaders" in source && Array.isArray(source.rawHeaders) ? source.rawHeaders : undefined
  if (lines === undefined) return wantsHost && host === undefined ? withoutHost : undefined
  // An absolute target is taken apart as browsers take addresses apart: http://host/a/../operator would be /operator.
  if (writtenIn(target) !== url) return notFound
  const seen = new Set<string>()
  for (let at = 0; at < lines.length; at += 2) {
    const name = String(lines[at]).toLowerCase()
    if (!repeated.has(name)) continue
    if (seen.has(name)) return repeated.get(name)
    seen.add(name)
  }
  return wantsHost && !seen.has("host") ? withoutHost : undefined
}

/** Which methods the API has, by path. */
const routesOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  others: ReadonlyArray<FindMyWay.PathInput>
) => {
  const methods = new Set<string>(["GET"])
  const router = FindMyWay.make<true>(routerConfig)
  for (const path of others) router.on("GET", path, true)
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { method, path } }) => {
      methods.add(method)
      router.on(method, path.startsWith("/") ? `/${path.slice(1)}` : "*", true)
    }
  })
  return (url: string): ReadonlyArray<string> => {
    const found = [...methods].filter((method) => router.find(method, url) !== undefined)
    return found.length === 0 ? [] : [...found, ...(found.includes("GET") ? ["HEAD"] : []), "OPTIONS"].toSorted()
  }
}

/**
 * What is done for every request, whatever it asks for: an envelope also for an unknown route, a wrong method, a crash; a limit on bodies and
 * on time; CORS, and the headers that a JSON API should send. `others` are the paths beside the API's own.
 */
export const layer = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  others: ReadonlyArray<FindMyWay.PathInput>,
  options: Options = {}
) => {
  const methodsAt = routesOf(api, others)
  const limitBytes = options.maxBodyBytes ?? maxBodyBytes
  const limitMillis = options.timeoutMillis ?? timeoutMillis
  const wantsHost = options.wantsHost ?? false
  const bodySize = ByteSize.fromInputUnsafe(limitBytes)
  const origins = new Set(options.corsOrigins)
  const security = { "x-content-type-options": "nosniff", "cache-control": "no-store" }

  const corsFor = (request: HttpServerRequest.HttpServerRequest): Record<string, string> => {
    if (Lnurl.isPublic(request.url)) return { "access-control-allow-origin": "*" }
    const origin = request.headers["origin"]
    if (origin === undefined || !(origins.has(origin) || origins.has("*"))) return { vary: "Origin" }
    return {
      "access-control-allow-origin": origin,
      "access-control-expose-headers": "Link, Idempotency-Replayed, Retry-After",
      vary: "Origin"
    }
  }

  /** An OPTIONS request, a browser's preflight or not. A browser whose origin is not allowed is told nothing that would let it go on. */
  const optionsAt = (request: HttpServerRequest.HttpServerRequest) => {
    const methods = methodsAt(request.url)
    if (methods.length === 0) return notFound
    const allow = methods.join(", ")
    const cors = corsFor(request)
    return HttpServerResponse.jsonUnsafe(
      { status: 200, message: "Options", data: { methods } },
      {
        status: 200,
        headers: {
          allow,
          ...("access-control-allow-origin" in cors && {
            "access-control-allow-methods": allow,
            "access-control-allow-headers": "Authorization, Content-Type, Idempotency-Key",
            "access-control-max-age": "600"
          })
        }
      }
    )
  }

  const finish = (request: HttpServerRequest.HttpServerRequest, response: HttpServerResponse.HttpServerResponse) => {
    // What most answers are, without the detours.
    const isOpen = origins.size > 0 || Lnurl.isPublic(request.url)
    if (response.status < 400 && !isOpen && response.headers["cache-control"] === undefined) {
      return HttpServerResponse.setHeaders(response, security)
    }
    return HttpServerResponse.setHeaders(enveloped(response), {
      ...security,
      ...owed[response.status],
      ...(response.headers["cache-control"] !== undefined && { "cache-control": response.headers["cache-control"] }),
      ...(isOpen && withVary(corsFor(request), response.headers["vary"]))
    })
  }

  const failed = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, cause: Cause.Cause<unknown>) {
    const error = Cause.squash(cause)
    if (HttpServerError.isHttpServerError(error)) {
      if (error.reason._tag === "RouteNotFound") {
        const methods = methodsAt(request.url)
        if (methods.length === 0) return notFound
        const allow = methods.join(", ")
        return answer(Errors.failure("method_not_allowed", `${request.method} is not one of this route's methods: ${allow}`), { allow })
      }
      if (error.reason._tag === "RequestParseError") {
        return error.reason.reason === "BodyTooLarge"
          ? tooLarge(limitBytes)
          : answer(Errors.malformedRequest([{ path: "", message: "The body could not be read to its end" }]))
      }
    }
    const reference = yield* Id.make
    yield* Effect.logError("request: crashed", { reference, method: request.method, path: request.url.split("?")[0] }, cause)
    return answer(Errors.failure("internal", `Internal error. Reference: ${reference}`))
  })

  const late = Effect.sync(() =>
    // The body may have stopped halfway, and then no further request can be read from this connection.
    answer(Errors.failure("timeout", `The request was not completed within ${limitMillis / 1000} seconds`), { connection: "close" })
  )

  /** Ends what takes too long, after the answer: to break off the reading of a body closes the connection, and nothing could be answered. */
  const timed = <E, R>(http: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    Effect.flatMap(Effect.forkScoped(http), (work) => Effect.timeoutOrElse(Fiber.join(work), { duration: limitMillis, orElse: () => late }))

  return HttpRouter.middleware(
    Effect.gen(function* () {
      // What is logged for a request goes where the layer's own log goes, also when a host's web server runs it.
      const context = yield* Effect.context<never>()

      let isForwardingKnown = (options.proxies ?? 0) > 0
      const warn = Effect.suspend(() => {
        isForwardingKnown = true
        return Effect.provideContext(Effect.logWarning(forwardingIsNotRead), context)
      })

      return (http) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
          const refusal = refusalOf(request, wantsHost)
          if (refusal !== undefined) return Effect.succeed(finish(request, refusal))
          if (request.method === "OPTIONS") return Effect.succeed(finish(request, optionsAt(request)))
          if (Number(request.headers["content-length"] ?? 0) > limitBytes) return Effect.succeed(finish(request, tooLarge(limitBytes)))
          // Reading has no body, and waits for the store alone, which limits its own time: a limit here too would cost a tenth of the request.
          const isRead = request.method === "GET" || request.method === "HEAD"
          const limited = isRead ? http : timed(Effect.provideService(http, HttpIncomingMessage.MaxBodySize, bodySize))
          // The framework runs us uninterruptibly: somebody who goes away ends the work only if we let him.
          const served = Effect.matchCauseEffect(Effect.interruptible(limited), {
            onSuccess: (response) => Effect.succeed(finish(request, response)),
            onFailure: (cause) => {
              if (isGone(cause)) return Effect.failCause(cause)
              if (Cause.hasInterruptsOnly(cause)) return Effect.succeed(finish(request, stopping))
              return Effect.map(Effect.provideContext(failed(request, cause), context), (response) => finish(request, response))
            }
          })
          return isForwardingKnown || request.headers["x-forwarded-for"] === undefined ? served : Effect.andThen(warn, served)
        })
    }),
    { global: true }
  )
}
