import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer, UrlParams } from "effect/http"
import { type HttpApi, HttpApiBuilder, type HttpApiGroup } from "effect/http-api"
import * as Addresses from "./Addresses.ts"
import { Api } from "./Api.ts"
import * as Authentication from "./Authentication.ts"
import * as Decoding from "./Decoding.ts"
import * as Docs from "./Docs.ts"
import * as DomainRoutes from "./DomainRoutes.ts"
import * as Edge from "./Edge.ts"
import * as Health from "./Health.ts"
import * as Home from "./Home.ts"
import * as Lnurl from "./Lnurl.ts"
import * as LnurlWithdraw from "./LnurlWithdraw.ts"
import * as Metrics from "./Metrics.ts"
import * as Operator from "./Operator.ts"
import * as Rates from "./Rates.ts"
import * as Read from "./Read.ts"
import * as Receive from "./Receive.ts"
import * as ReconciliationRoutes from "./ReconciliationRoutes.ts"
import { routerConfig } from "./Routing.ts"
import * as Send from "./Send.ts"
import * as VoucherRoutes from "./VoucherRoutes.ts"

/** How requests are taken in, and what the first page says. */
export interface Options extends Edge.Options {
  /** What the page at `/` says of the service. */
  readonly about?: Home.About
  /** What is sent and answered at the endpoints that a host has added, told of the same world as the other examples. */
  readonly examples?: Docs.Options["examples"]
}

/** What checks and reads requests, for the groups here and for a host's own. */
export const layerMiddlewares = Layer.mergeAll(Authentication.layer, Authentication.layerOperator, Decoding.layer)

/** The handlers of every group in `Api`. */
export const layerHandlers = Layer.mergeAll(
  Receive.layer,
  Addresses.layer,
  DomainRoutes.layer,
  DomainRoutes.layerTls,
  Send.layer,
  VoucherRoutes.layer,
  Read.layer,
  Rates.layer,
  Operator.layer,
  ReconciliationRoutes.layer,
  Health.layer,
  Metrics.layer
)

/** A host's traces repeat what was asked for, and what a voucher's link has in it is as good as its money. */
const layerUnsaid = Layer.effect(
  UrlParams.CurrentRedactedNames,
  Effect.map(UrlParams.CurrentRedactedNames, (names) => [...names, "k1"])
)

/**
 * The routes of an API that was extended by `Api.add(group)`, its OpenAPI document and its documentation. Wants the handlers of
 * every group: `layerHandlers` and the host's own, both over `layerMiddlewares`.
 */
export const layerOf = <Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<"satrail", Groups>, options?: Options) =>
  Layer.mergeAll(
    HttpApiBuilder.layer(api),
    Home.layer(options?.about),
    Docs.layer(api, {
      ...(options?.about?.network && { network: options.about.network }),
      ...(options?.examples && { examples: options.examples })
    }),
    Lnurl.layer(options?.proxies),
    LnurlWithdraw.layer(options?.proxies),
    layerUnsaid,
    Edge.layer(api, [...Object.values(Home.paths), ...Object.values(Docs.paths), ...Lnurl.paths], options)
  )

/** Every route of `Api` in the router, over the core's services, an `OperatorToken` and a `Readiness`. */
export const layer = (options?: Options) => layerOf(Api, options).pipe(Layer.provide(layerHandlers), Layer.provide(layerMiddlewares))

/** Routes as one function from a web `Request` to its `Response`, to be mounted in a host's own server. `dispose` ends what the layer began. */
export const webHandler = <E>(routes: Layer.Layer<never, E, HttpRouter.HttpRouter | Layer.Success<typeof HttpServer.layerServices>>) =>
  HttpRouter.toWebHandler(Layer.provide(routes, HttpServer.layerServices), { disableLogger: true, routerConfig })
