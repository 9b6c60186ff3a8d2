import { Effect, Layer } from "effect"
import * as ByteSize from "effect/ByteSize"
import { HttpIncomingMessage, HttpRouter, HttpServerResponse } from "effect/http"
import * as Errors from "../wire/Errors.ts"
import * as Exchange from "./Exchange.ts"
import { type Mounted, Paths, type Policy } from "./Paths.ts"
import { routerConfig } from "../wire/Routing.ts"

export type { Policy } from "./Paths.ts"

/** Streams that one extension has open at once in one process, and how long each may last, unless its policy says otherwise. */
export const maxStreams = 100
export const maxStreamMillis = 15 * 60_000

/** The headers of pages that set none: they load nothing, are shown in no frame, and send no referrer. */
const closed = {
  "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer"
}

/** Paths beside the API's: pages, files, streams, other protocols. */
export interface Extension<E = never, R = never> {
  /** Adds routes to the router. Middleware, global or not, is for these routes alone. */
  readonly routes: Layer.Layer<never, E, R>
  readonly policy: Partial<Policy>
}

/**
 * Routes as any layer adds them: `HttpRouter.add`, `HttpApiBuilder.layer`, `HttpStaticServer.layer`. What their policy does not say is as for the
 * API, but that reading is limited in time too, and that pages without a content security policy load nothing.
 */
export const make = <E, R>(routes: Layer.Layer<never, E, R>, policy: Partial<Policy> = {}): Extension<E, R> => ({
  routes,
  policy: { limitsReads: true, headers: closed, ...policy }
})

const late = (limitMillis: number) =>
  // The body may have stopped halfway, and then no further request can be read from this connection.
  HttpServerResponse.jsonUnsafe(Errors.failure("timeout", `The request was not completed within ${limitMillis / 1000} seconds`), {
    status: 503,
    headers: { connection: "close" }
  })

/**
 * Ends what takes too long, after the answer: to break off the reading of a body closes the connection, and nothing could be answered. Every write comes by
 * here: a timer costs a third of what a fiber for the time costs, which is a twentieth of a confirm.
 */
const timed = <E, R>(http: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>, limitMillis: number) =>
  Effect.flatMap(Effect.forkScoped(http), (work) =>
    Effect.callback<HttpServerResponse.HttpServerResponse, E>((resume) => {
      const timer = setTimeout(() => resume(Effect.succeed(late(limitMillis))), limitMillis)
      const unobserved = work.addObserver((exit) => {
        clearTimeout(timer)
        resume(exit)
      })
      return Effect.sync(() => {
        clearTimeout(timer)
        unobserved()
      })
    })
  )

/** The route, held to its policy, and named where requests are logged. Nothing more is done for one that only reads and has no headers to add: it is the hottest there is. */
const held = <E, R>(route: HttpRouter.Route<E, R>, { policy }: Mounted) => {
  const { maxBodyBytes, timeoutMillis, limitsReads, cors } = policy
  const headers = { ...policy.headers, ...(cors === "any" && { "access-control-allow-origin": "*" }) }
  const isRead = route.method === "GET" || route.method === "HEAD"
  const limited =
    isRead && !limitsReads
      ? route.handler
      : timed(Effect.provideService(route.handler, HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe(maxBodyBytes)), timeoutMillis)
  const handler =
    Object.keys(headers).length === 0
      ? limited
      : Effect.map(limited, (response) => HttpServerResponse.setHeaders(response, { ...headers, ...response.headers }))
  return { ...route, handler: Exchange.noting({ route: route.path })(handler) }
}

type Routes = ReadonlyArray<HttpRouter.Route<unknown, unknown>>

/** A router that adds as this one does, by whichever of its methods. */
const adding = (router: HttpRouter.HttpRouter, add: (routes: Routes) => Effect.Effect<void, never, unknown>): HttpRouter.HttpRouter => {
  const prefixed = (prefix: string): HttpRouter.HttpRouter => ({
    ...adding(router, (routes) => add(routes.map(HttpRouter.prefixRoute(prefix)))),
    prefixed: (more) => prefixed(HttpRouter.prefixPath(more, prefix))
  })
  return {
    ...router,
    prefixed,
    // oxlint-disable-next-line typescript/consistent-type-assertions -- what routes need and fail with is in their types, which are those of the method
    addAll: (routes) => add(routes) as never,
    // oxlint-disable-next-line typescript/consistent-type-assertions -- as above
    add: (method, path, handler, options) => add([HttpRouter.route(method, path, handler, options)]) as never
  }
}

const mountedWith = (policy: Policy): Mounted => ({ policy, openStreams: 0 })

/**
 * Adds an extension's routes to the router. They are in a router of their own, so that all middleware, global or not, is inside of what the
 * policy holds them to, and is nobody else's. `defaults` are for what the policy does not say.
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
        const mounted = mountedWith({ ...defaults, ...policy })
        // Once: what is added to a router later is found, but global middleware is not.
        const answer = yield* Effect.cached(Effect.sync(() => own.asHttpEffect()))
        // oxlint-disable-next-line typescript/consistent-type-assertions -- it may fail with anything, as every route may
        const inside = Effect.flatten(answer) as Effect.Effect<HttpServerResponse.HttpServerResponse>
        return adding(own, (added) =>
          Effect.andThen(
            own.addAll(added),
            // Without the extension's middleware, which is around what is inside already.
            Effect.updateContext(
              Effect.suspend(() => {
                for (const { method, path } of added) paths.add(method, path, mounted)
                const outer = added.map(({ method, path, uninterruptible }) => HttpRouter.route(method, path, inside, { uninterruptible }))
                return router.addAll(outer.map((route) => held(route, mounted)))
              }),
              () => outside
            )
          )
        )
      })
    )
  )

/** The same for routes without middleware of their own, such as the API's: found once, which is half a microsecond less for each request. */
export const mountDirectly = <E, R>(routes: Layer.Layer<never, E, R>, policy: Policy) =>
  Layer.provide(
    routes,
    Layer.effect(
      HttpRouter.HttpRouter,
      Effect.gen(function* () {
        const [router, paths] = [yield* HttpRouter.HttpRouter, yield* Paths]
        const mounted = mountedWith(policy)
        return adding(router, (added) =>
          Effect.suspend(() => {
            for (const { method, path } of added) paths.add(method, path, mounted)
            return router.addAll(added.map((route) => held(route, mounted)))
          })
        )
      })
    )
  )
