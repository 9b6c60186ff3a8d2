import { Effect, Fiber, Layer, type Scope } from "effect"
import * as ByteSize from "effect/ByteSize"
import { HttpIncomingMessage, HttpRouter, HttpServerResponse } from "effect/http"
import * as Errors from "../wire/Errors.ts"
import * as Exchange from "./Exchange.ts"
import { type Index, type Mounted, Paths, type Policy } from "./Paths.ts"
import * as Received from "../wire/Received.ts"
import { routerConfig } from "../wire/Routing.ts"

export type { Policy } from "./Paths.ts"

/** Default limits on an extension's streams: their number per process, and their duration. */
export const maxStreams = 100
export const maxStreamMillis = 15 * 60_000

/** Time that the reader of a stream has after the end to read the rest. Then its connection is closed. */
export const partingMillis = 5_000

/** Default page headers. They prevent a page from loading anything, appearing in a frame, or sending a referrer. */
const closed = {
  "content-security-policy":
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer"
}

/** Routes outside the API: pages, files, streams, other protocols. */
export interface Extension<E = never, R = never> {
  /** Adds routes to the router. The extension's middleware, global or not, applies only to these routes. */
  readonly routes: Layer.Layer<never, E, R>
  readonly policy: Partial<Policy>
}

/**
 * Makes an extension from routes, which are added as in any layer: `HttpRouter.add`, `HttpApiBuilder.layer`,
 * `HttpStaticServer.layer`. Its policy defaults to the API's, except that reads have a time limit too and pages
 * without a content security policy load nothing.
 */
export const make = <E, R>(
  routes: Layer.Layer<never, E, R>,
  policy: Partial<Policy> = {}
): Extension<E, R> => ({
  routes,
  policy: { limitsReads: true, headers: closed, ...policy }
})

const late = (limitMillis: number) =>
  // The body may have stopped halfway, so no further request can be read from this connection.
  HttpServerResponse.jsonUnsafe(
    Errors.failure("timeout", `The request was not completed within ${limitMillis / 1000} seconds`),
    {
      status: 503,
      headers: { connection: "close" }
    }
  )

/** Waits until the responses of this event-loop turn have been sent. */
const sent = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

/**
 * Interrupts slow work only after responding, because aborting the read of a body closes the connection. Every
 * write runs through this function, so it starts the work itself and uses a timer, which costs less than a fork in
 * the request's scope and a fiber that waits.
 */
const timed = <E, R>(http: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>, limitMillis: number) =>
  Effect.flatMap(Effect.context<R>(), (context) =>
    Effect.callback<HttpServerResponse.HttpServerResponse, E, Scope.Scope>((resume) => {
      const work = Effect.runForkWith(context)(http)
      const timer = setTimeout(() => {
        resume(
          Effect.as(
            Effect.addFinalizer(() => Effect.andThen(sent, Fiber.interrupt(work))),
            late(limitMillis)
          )
        )
      }, limitMillis)
      work.addObserver((exit) => {
        clearTimeout(timer)
        resume(exit)
      })
      return Effect.suspend(() => {
        clearTimeout(timer)
        return Fiber.interrupt(work)
      })
    })
  )

/**
 * Applies the policy to a route and records its pattern. A read without extra headers gets no further wrapper,
 * because reads are the hottest path.
 */
const held = <E, R>(route: HttpRouter.Route<E, R>, { policy }: Mounted) => {
  const { maxBodyBytes, timeoutMillis, limitsReads, cors } = policy
  const headers = { ...policy.headers, ...(cors === "any" && { "access-control-allow-origin": "*" }) }
  const isRead = route.method === "GET" || route.method === "HEAD"
  const limit = ByteSize.fromInputUnsafe(maxBodyBytes)
  const limited = timed(
    Effect.provideService(route.handler, HttpIncomingMessage.MaxBodySize, limit),
    timeoutMillis
  )
  // A read can have a body, too, which is read to its end and ignored. Without one, a read needs no limit.
  const bounded =
    isRead && !limitsReads
      ? Received.withRequest((request) => (Received.isEmpty(request) ? route.handler : limited))
      : limited
  const handler =
    Object.keys(headers).length === 0
      ? bounded
      : Effect.map(bounded, (response) =>
          HttpServerResponse.setHeaders(response, { ...headers, ...response.headers })
        )
  return { ...route, handler: Exchange.noting({ route: route.path })(handler) }
}

type Routes = ReadonlyArray<HttpRouter.Route<unknown, unknown>>

/** Makes a router whose methods all add routes through `add`. */
const adding = (
  router: HttpRouter.HttpRouter,
  add: (routes: Routes) => Effect.Effect<void, never, unknown>
): HttpRouter.HttpRouter => {
  const prefixed = (prefix: string): HttpRouter.HttpRouter => ({
    ...adding(router, (routes) => add(routes.map(HttpRouter.prefixRoute(prefix)))),
    prefixed: (more) => prefixed(HttpRouter.prefixPath(more, prefix))
  })
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the method's type already states the routes' requirements and errors
  const addAll: HttpRouter.HttpRouter["addAll"] = (routes) => add(routes) as never
  return {
    ...router,
    prefixed,
    addAll,
    add: (method, path, handler, options) => addAll([HttpRouter.route(method, path, handler, options)])
  }
}

/** Returns a function that adds routes with a policy to the router. */
const mounting = (router: HttpRouter.HttpRouter, paths: Index, policy: Policy) => {
  const mounted: Mounted = { policy, openStreams: 0 }
  return <E, R>(routes: ReadonlyArray<HttpRouter.Route<E, R>>) =>
    Effect.suspend(() => {
      for (const { method, path } of routes) paths.add(method, path, mounted)
      return router.addAll(routes.map((route) => held(route, mounted)))
    })
}

/**
 * Adds an extension's routes to the router. The routes have a separate router, so all their middleware runs
 * inside the policy and applies to no other routes. `defaults` supplies the rest of the policy.
 */
export const mount = <E, R>({ routes, policy }: Extension<E, R>, defaults: Policy) =>
  Layer.provide(
    routes,
    Layer.effect(
      HttpRouter.HttpRouter,
      Effect.gen(function* () {
        const outside = yield* Effect.context<HttpRouter.HttpRouter | Paths>()
        const [router, paths] = [yield* HttpRouter.HttpRouter, yield* Paths]
        const own = yield* Effect.provideService(HttpRouter.make, HttpRouter.RouterConfig, routerConfig)
        const mounted = mounting(router, paths, { ...defaults, ...policy })
        // Build the handler on first use. It includes routes added after that, but not global middleware.
        const answer = yield* Effect.cached(Effect.sync(() => own.asHttpEffect()))
        // oxlint-disable-next-line typescript/consistent-type-assertions -- like every route, it can fail with any error
        const inside = Effect.flatten(answer) as Effect.Effect<HttpServerResponse.HttpServerResponse>
        return adding(own, (added) =>
          Effect.andThen(
            own.addAll(added),
            // Leave out the extension's middleware, which already surrounds the inner router.
            Effect.updateContext(
              mounted(
                added.map(({ method, path, uninterruptible }) =>
                  HttpRouter.route(method, path, inside, { uninterruptible })
                )
              ),
              () => outside
            )
          )
        )
      })
    )
  )

/**
 * Mounts routes without their own middleware, such as the API's. A request is then routed only once, which
 * saves half a microsecond.
 */
export const mountDirectly = <E, R>(routes: Layer.Layer<never, E, R>, policy: Policy) =>
  Layer.provide(
    routes,
    Layer.effect(
      HttpRouter.HttpRouter,
      Effect.gen(function* () {
        const router = yield* HttpRouter.HttpRouter
        return adding(router, mounting(router, yield* Paths, policy))
      })
    )
  )
