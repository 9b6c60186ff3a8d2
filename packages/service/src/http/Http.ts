import { Context, Effect, Layer, ManagedRuntime } from "effect"
import { HttpRouter, HttpServer, UrlParams } from "effect/http"
import { type HttpApi, HttpApiBuilder, type HttpApiGroup } from "effect/http-api"
import { Api, layerHandlers as layerSections } from "./Api.ts"
import * as Credentials from "@satrail/http/api/Credentials"
import * as Authentication from "@satrail/http/api/Authentication"
import * as Console from "./pages/Console.ts"
import * as Decoding from "@satrail/http/wire/Decoding"
import * as Docs from "./pages/Docs.ts"
import * as Disconnect from "@satrail/http/edge/Disconnect"
import * as Edge from "@satrail/http/edge/Edge"
import * as ErrorsPage from "./pages/ErrorsPage.ts"
import * as EventStream from "./events/EventStream.ts"
import * as Inside from "@satrail/http/edge/Inside"
import * as Extension from "@satrail/http/edge/Extension"
import * as Home from "./pages/Home.ts"
import * as Lnurl from "@satrail/http/resources/Lnurl"
import * as Feature from "@satrail/http/api/Feature"
import { features } from "../features/http.ts"
import * as PayToPage from "./pages/PayToPage.ts"
import * as Paths from "@satrail/http/edge/Paths"
import * as Readiness from "@satrail/http/api/Readiness"
import { routerConfig } from "@satrail/http/wire/Routing"
import * as Ui from "@satrail/http/edge/Ui"
import * as Sheet from "@satrail/http/wire/Sheet"

/** Options for accepting requests, and for the pages served next to the API. */
export interface Options<E = never, R = never> extends Edge.Options {
  /** Content of the page at `/`. */
  readonly about?: Home.About
  /**
   * Documentation served at `/docs`, next to the API reference. Default: a page with a link to the reference.
   */
  readonly site?: Extension.Extension<never, HttpRouter.HttpRouter> | undefined
  /** Whether users can sign in to the console at `/console`. Default: false. */
  readonly console?: boolean
  /** Pages, files and streams served next to the API. */
  readonly extensions?: ReadonlyArray<Extension.Extension<E, R>>
}

/** Provides the references that features define. */
const layerProvided = Layer.mergeAll(
  Layer.effect(
    Credentials.Kinds,
    Effect.gen(function* () {
      const own = yield* Credentials.Kinds
      return [...(yield* Effect.all(Feature.joined(features, "credentials"))), ...own]
    })
  ),
  ...Feature.joined(features, "provides")
)

/** Authenticates companies by API key or session. */
export const layerAuthentication = Layer.provide(Authentication.layer, layerProvided)

/** Middleware that authenticates and decodes requests to these groups and to the host's groups. */
export const layerMiddlewares = Layer.mergeAll(
  Authentication.layer,
  Authentication.layerOperator,
  Decoding.layer
).pipe(Layer.provide(layerProvided))

/** The handlers of every group in `Api`. */
export const layerHandlers = Layer.provide(layerSections, Layer.merge(Readiness.layer, Sheet.layerPlaces))

/** Redacts query parameters that give access to money, because a host's traces record URLs. */
const layerUnsaid = Layer.effect(
  UrlParams.CurrentRedactedNames,
  Effect.map(UrlParams.CurrentRedactedNames, (names) => [
    ...names,
    ...Feature.joined(features, "redactedParameters")
  ])
)

/**
 * Routes, OpenAPI document and documentation of an API extended by `Api.add(group)`. Requires the handlers of
 * every group: `layerHandlers` and the handlers of the host's groups. Both of these layers require
 * `layerMiddlewares`.
 */
export const layerOf = <Groups extends HttpApiGroup.Constraint, E = never, R = never>(
  api: HttpApi.HttpApi<"satrail", Groups>,
  options: Options<E, R> = {}
) => {
  const { about, proxies, site, extensions = [], console = false } = options
  const policy = Edge.policyOf(options)
  const own = (routes: Layer.Layer<never, never, HttpRouter.HttpRouter>) =>
    Extension.mount({ routes, policy: {} }, policy)
  return Layer.mergeAll(
    Extension.mountDirectly(HttpApiBuilder.layer(api), policy),
    own(Home.layer(about, console ? Console.path : undefined)),
    own(Docs.layer(api, about?.network, about?.sandboxKey)),
    own(ErrorsPage.layer),
    site === undefined ? own(Docs.layerWithoutSite) : Extension.mount(site, policy),
    Extension.mount(Lnurl.extension(proxies), policy),
    ...Feature.extensions(features).map((extension) => Extension.mount(extension(proxies), policy)),
    Extension.mount(PayToPage.extension(proxies, about), policy),
    Extension.mount(Ui.extension, policy),
    Extension.mount(EventStream.extension, policy),
    ...(console
      ? [
          Layer.unwrap(
            Effect.map(HttpRouter.HttpRouter, (outer) =>
              Extension.mount(Console.extension(outer, about), policy)
            )
          )
        ]
      : []),
    ...extensions.map((extension) => Extension.mount(extension, policy)),
    layerUnsaid,
    Edge.layer(options)
  ).pipe(Layer.provide(layerProvided), Layer.provide(Layer.sync(Paths.Paths, Paths.make)))
}

/**
 * Adds every route of `Api` to the router. Requires the core's services, an `OperatorToken` and a
 * `Readiness`.
 */
export const layer = <E = never, R = never>(options?: Options<E, R>) =>
  layerOf(Api, options).pipe(Layer.provide(layerHandlers), Layer.provide(layerMiddlewares))

/**
 * Turns routes into one function from a web `Request` to a `Response`, to mount in a host's server. `dispose`
 * releases everything the layer acquired.
 */
export const webHandler = <E>(
  routes: Layer.Layer<never, E, HttpRouter.HttpRouter | Layer.Success<typeof HttpServer.layerServices>>
) => {
  const { handler, dispose } = HttpRouter.toWebHandler(Layer.provide(routes, HttpServer.layerServices), {
    disableLogger: true,
    routerConfig
  })
  return {
    handler: async (...asked: Parameters<typeof handler>) =>
      Disconnect.endable(asked[0], await handler(...asked)),
    dispose
  }
}

/** The routes of an API without pages, and without what protects a server from its callers. */
export const layerInside = <Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<"satrail", Groups>
) => Layer.provide(HttpApiBuilder.layer(api), layerProvided)

/** Turns the routes of `layerInside` into a function that runs the requests of the program that embeds the service. */
export const inside = <E>(
  routes: Layer.Layer<never, E, HttpRouter.HttpRouter | Layer.Success<typeof HttpServer.layerServices>>
) => {
  const router = Layer.provide(HttpRouter.layer, Layer.succeed(HttpRouter.RouterConfig, routerConfig))
  const runtime = ManagedRuntime.make(
    Layer.provideMerge(Layer.provide(routes, HttpServer.layerServices), router)
  )
  return {
    /** Builds the routes. */
    begin: async () => {
      const context = await runtime.context()
      const send = Inside.ofHost(Context.get(context, HttpRouter.HttpRouter))
      const run = Effect.runPromiseExitWith(Context.omit(HttpRouter.HttpRouter)(context))
      return <HostE>(host: Effect.Effect<Inside.Host, HostE>, asked: Inside.Asked, signal?: AbortSignal) =>
        run(send(host, asked), signal && { signal })
    },
    dispose: () => runtime.dispose()
  }
}
