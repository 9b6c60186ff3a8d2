import * as Measure from "@satrail/core/base/Measure"
import * as Trail from "@satrail/core/base/Trail"
import { Cause, Clock, Context, Effect, type Fiber, Logger, LogLevel, Option, References, Tracer } from "effect"
import type { HttpServerRequest } from "effect/http"

/** A request while it is answered, as its log and its metrics name it. Whoever comes to know something of it on the way writes it here. */
export interface Exchange {
  readonly id: string
  readonly beganMillis: number
  /** The pattern of the path that was found, `/v1/invoices/:id`: what was sent in its place may be a secret. */
  route: string | undefined
  /** The id of the API key that was shown and is one, or `operator:` and that of an operator's token. */
  key: string | undefined
  /** What its answer says besides, however it ends. */
  headers: Readonly<Record<string, string>> | undefined
}

/** That of the request that is being answered. */
export const Current = Context.Reference<Exchange | undefined>("@satrail/http/edge/Exchange", { defaultValue: () => undefined })

export const make = (id: string): Exchange => ({ id, beganMillis: performance.now(), route: undefined, key: undefined, headers: undefined })

/** Notes something of the request, where there is one. */
export const noting =
  (note: Partial<Pick<Exchange, "route" | "key" | "headers">>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber((fiber) => {
      const exchange = fiber.getRef(Current)
      if (exchange !== undefined) Object.assign(exchange, note)
      return effect
    })

/** The console's page sends this header with each request. A page of another origin can't send it without being refused by its browser first. */
export const consoleHeader = "x-satrail-console"

/** What a client has not waited for is no answer; proxies write it down as this. */
export const gone = 499

/** Routes that monitoring asks for all day. That they answered is logged at the level `debug`. */
const probes = new Set(["/healthz", "/readyz", "/operator/metrics"])

const requests = Measure.counter("satrail_http_requests_total", "Answered requests; 499: the client did not wait", [
  "method",
  "route",
  "status"
])
const seconds = Measure.histogram("satrail_http_request_seconds", "Time until the answer to a request began", {
  boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  labels: ["method", "route"]
})

/** Whatever is nobody's path or a method that no route has: who asks for such must not make a series with each. */
const other = "other"
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** What the span of a request says besides what the framework does: where it was found, and how it is found in the log. */
const describe = ({ context }: Fiber.Fiber<unknown, unknown>, { id }: Exchange, route: string) => {
  const span = Option.getOrUndefined(Context.getOption(context, Tracer.ParentSpan))
  if (span?._tag !== "Span") return
  span.attribute("http.route", route)
  span.attribute("satrail.request_id", id)
}

/**
 * Notes what became of each request: in the metrics, and, where `isLogged`, in a line of the log of `surrounding`. A line has the request's method, the
 * route's pattern, the status, the milliseconds until the answer began, the id of the key, whether the console's page asked, and, as an annotation, the request's id: never a path or a query.
 */
export const recorder = (surrounding: Context.Context<never>, isLogged: boolean) => {
  const loggers = Context.get(surrounding, Logger.CurrentLoggers)
  const minimum = Context.get(surrounding, References.MinimumLogLevel)
  const isTraced = Trail.isTracedIn(surrounding)
  return (asked: HttpServerRequest.HttpServerRequest, exchange: Exchange, status: number, fiber: Fiber.Fiber<unknown, unknown>): void => {
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
    // As `Effect.log` does it, without an effect of its own.
    for (const logger of loggers) logger.log({ message: ["request", line], logLevel, cause: Cause.empty, fiber, date })
  }
}
