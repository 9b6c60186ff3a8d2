import * as Measure from "@satrail/core/base/Measure"
import * as TraceContext from "@satrail/core/base/TraceContext"
import {
  Cause,
  Clock,
  Context,
  Effect,
  type Fiber,
  Logger,
  LogLevel,
  Option,
  References,
  Tracer
} from "effect"
import type { HttpServerRequest } from "effect/http"

/**
 * A request in progress, as its log line and metrics describe it. Code that learns more about the request
 * adds it here.
 */
export interface Exchange {
  readonly id: string
  readonly beganMillis: number
  /** Pattern of the matched path, `/v1/invoices/:id`. The actual path can contain a secret. */
  route: string | undefined
  /** Id of the valid API key, or `operator:` and the id of the operator's token. */
  key: string | undefined
  /** Additional headers of the response, whatever its outcome. */
  headers: Readonly<Record<string, string>> | undefined
}

/** The exchange of the current request. */
export const Current = Context.Reference<Exchange | undefined>("@satrail/http/edge/Exchange", {
  defaultValue: () => undefined
})

export const make = (id: string): Exchange => ({
  id,
  beganMillis: performance.now(),
  route: undefined,
  key: undefined,
  headers: undefined
})

/** Adds facts to the current exchange, if there is one. */
export const noting =
  (note: Partial<Pick<Exchange, "route" | "key" | "headers">>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber((fiber) => {
      const exchange = fiber.getRef(Current)
      if (exchange !== undefined) Object.assign(exchange, note)
      return effect
    })

/** The console's page sends this header with each request. Browsers do not let a page from another origin send it. */
export const consoleHeader = "x-satrail-console"

/**
 * The prefix restricts the cookie to this host, the root path and https, so no other host can set it (RFC
 * 6265bis, section 4.1.3.2). Browsers also accept http on the loopback interface.
 */
export const cookieName = "__Host-satrail"

/** Status recorded when the client disconnects before the response. Proxies use the same number. */
export const gone = 499

/** Routes that monitoring polls continuously. Their successes are logged at level `debug`. */
const probes = new Set(["/healthz", "/readyz", "/readyz/:check", "/operator/metrics"])

const requests = Measure.counter(
  "satrail_http_requests_total",
  "Requests; 499 means that the client disconnected first",
  ["method", "route", "status"]
)
const seconds = Measure.histogram(
  "satrail_http_request_seconds",
  "Time until the first byte of the response",
  {
    boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    labels: ["method", "route"]
  }
)

/** Label for unknown paths and methods, so that callers cannot create new metric series. */
const other = "other"
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** Adds the route and the request id to the span of a request. */
const describe = ({ context }: Fiber.Fiber<unknown, unknown>, { id }: Exchange, route: string) => {
  const span = Option.getOrUndefined(Context.getOption(context, Tracer.ParentSpan))
  if (span?._tag !== "Span") return
  span.attribute("http.route", route)
  span.attribute("satrail.request_id", id)
}

/**
 * Records the outcome of each request in the metrics and, if `isLogged`, in a log line. The line has the
 * method, the route's pattern, the status, the milliseconds until the response began, the key's id, whether the
 * console sent the request, and the request id as an annotation. The line never has a path or a query.
 */
export const recorder = (surrounding: Context.Context<never>, isLogged: boolean) => {
  const loggers = Context.get(surrounding, Logger.CurrentLoggers)
  const minimum = Context.get(surrounding, References.MinimumLogLevel)
  const isTraced = TraceContext.isTracedIn(surrounding)
  return (
    asked: HttpServerRequest.HttpServerRequest,
    exchange: Exchange,
    status: number,
    fiber: Fiber.Fiber<unknown, unknown>
  ): void => {
    const millis = performance.now() - exchange.beganMillis
    const { route = other, key } = exchange
    const method = methods.has(asked.method) ? asked.method : other
    requests({ method, route, status: String(status) }).updateUnsafe(1, surrounding)
    seconds({ method, route }).updateUnsafe(millis / 1000, surrounding)
    if (isTraced) describe(fiber, exchange, route)
    const logLevel = status < 400 && probes.has(route) ? "Debug" : "Info"
    if (!isLogged || LogLevel.isGreaterThan(minimum, logLevel)) return
    const line = {
      method,
      route,
      status,
      ms: Math.round(millis * 10) / 10,
      ...(key !== undefined && { key }),
      ...(asked.headers[consoleHeader] !== undefined && { by: "console" })
    }
    const date = new Date(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe())
    // Same as `Effect.log`, without a separate effect.
    for (const logger of loggers)
      logger.log({ message: ["request", line], logLevel, cause: Cause.empty, fiber, date })
  }
}
