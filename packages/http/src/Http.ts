import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer, UrlParams } from "effect/http"
import { type HttpApi, HttpApiBuilder, type HttpApiGroup } from "effect/http-api"
import { Api, layerHandlers as layerSections } from "./Api.ts"
import * as Authentication from "./api/Authentication.ts"
import * as Console from "./pages/Console.ts"
import * as Decoding from "./wire/Decoding.ts"
import * as Docs from "./pages/Docs.ts"
import * as Edge from "./edge/Edge.ts"
import * as ErrorsPage from "./pages/ErrorsPage.ts"
import * as EventStream from "./events/EventStream.ts"
import * as Extension from "./edge/Extension.ts"
import * as Home from "./pages/Home.ts"
import * as Lnurl from "./resources/Lnurl.ts"
import * as Feature from "./features/Feature.ts"
import { features } from "./features/index.ts"
import * as PayToPage from "./pages/PayToPage.ts"
import * as Paths from "./edge/Paths.ts"
import * as Readiness from "./api/Readiness.ts"
import { routerConfig } from "./wire/Routing.ts"
import * as Ui from "./edge/Ui.ts"
import * as Sheet from "./wire/Sheet.ts"
import { following } from "./Following.ts"

/** How requests are taken in, and what the first page says. */
export interface Options<E = never, R = never> extends Edge.Options {
  /** What the page at `/` says of the service. */
  readonly about?: Home.About
  /** What is served at `/docs` and below it, beside the API reference. A page that leads to the reference unless given. */
  readonly site?: Extension.Extension<never, HttpRouter.HttpRouter> | undefined
  /** Whether people may sign in to the console, at `/console`. Not unless given. */
  readonly console?: boolean
  /** What is served beside the API: pages, files, streams. */
  readonly extensions?: ReadonlyArray<Extension.Extension<E, R>>
}

/** References that features provide. */
const layerProvided = Layer.mergeAll(...Feature.joined(features, "provides"))

/** Lets a company in, by its key or by its session. */
export const layerAuthentication = Layer.provide(Authentication.layer, layerProvided)

/** What checks and reads requests, for the groups here and for a host's own. */
export const layerMiddlewares = Layer.mergeAll(Authentication.layer, Authentication.layerOperator, Decoding.layer).pipe(
  Layer.provide(layerProvided)
)

/** The handlers of every group in `Api`. */
export const layerHandlers = Layer.provide(layerSections, Layer.merge(Readiness.layer, Sheet.layerPlaces))

/** A host's traces repeat what was asked for, and what some links have in them is as good as money. */
const layerUnsaid = Layer.effect(
  UrlParams.CurrentRedactedNames,
  Effect.map(UrlParams.CurrentRedactedNames, (names) => [...names, ...Feature.joined(features, "unsaid")])
)

/**
 * The routes of an API that was extended by `Api.add(group)`, its OpenAPI document and its documentation. Wants the handlers of
 * every group: `layerHandlers` and the host's own, both over `layerMiddlewares`.
 */
export const layerOf = <Groups extends HttpApiGroup.Constraint, E = never, R = never>(
  api: HttpApi.HttpApi<"satrail", Groups>,
  options: Options<E, R> = {}
) => {
  const { about, proxies, site, extensions = [], console = false } = options
  const policy = Edge.policyOf(options)
  const own = (routes: Layer.Layer<never, never, HttpRouter.HttpRouter>) => Extension.mount({ routes, policy: {} }, policy)
  return Layer.mergeAll(
    Extension.mountDirectly(HttpApiBuilder.layer(api), policy),
    own(Home.layer(about, console ? Console.path : undefined)),
    own(Docs.layer(api, about?.network)),
    own(ErrorsPage.layer),
    site === undefined ? own(Docs.layerWithoutSite) : Extension.mount(site, policy),
    Extension.mount(Lnurl.extension(proxies), policy),
    ...Feature.extensions([...features, ...following]).map((extension) => Extension.mount(extension(proxies), policy)),
    Extension.mount(PayToPage.extension(proxies), policy),
    Extension.mount(Ui.extension, policy),
    Extension.mount(EventStream.extension, policy),
    ...(console ? [Extension.mount(Console.extension, policy)] : []),
    ...extensions.map((extension) => Extension.mount(extension, policy)),
    layerUnsaid,
    Edge.layer(options)
  ).pipe(Layer.provide(layerProvided), Layer.provide(Layer.sync(Paths.Paths, Paths.make)))
}

/** Every route of `Api` in the router, over the core's services, an `OperatorToken` and a `Readiness`. */
export const layer = <E = never, R = never>(options?: Options<E, R>) =>
  layerOf(Api, options).pipe(Layer.provide(layerHandlers), Layer.provide(layerMiddlewares))

/** Routes as one function from a web `Request` to its `Response`, to be mounted in a host's own server. `dispose` ends what the layer began. */
export const webHandler = <E>(routes: Layer.Layer<never, E, HttpRouter.HttpRouter | Layer.Success<typeof HttpServer.layerServices>>) =>
  HttpRouter.toWebHandler(Layer.provide(routes, HttpServer.layerServices), { disableLogger: true, routerConfig })
