import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Nostr from "@satrail/bitcoin/Nostr"
import { ConfiguredToken } from "@satrail/core/accounts/OperatorRequests"
import * as Audit from "@satrail/core/ledger/Audit"
import * as Throttle from "@satrail/core/base/Throttle"
import type { Journal, StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import type { ChainBooks } from "@satrail/core/nodes/ChainBooks"
import type { ExchangeRates } from "@satrail/core/nodes/ExchangeRates"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { OfferSender } from "@satrail/core/nodes/OfferSender"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import * as Policy from "@satrail/core/service/Policy"
import * as Reconciler from "@satrail/core/reports/reconciliation/Reconciler"
import type { Records } from "@satrail/core/service/Records"
import * as Satrail from "@satrail/service/core/Satrail"
import { OwnRoutes } from "@satrail/service/features/own"
import { Api, make as makeApi, type Groups } from "@satrail/service/http/Api"
import { OperatorToken } from "@satrail/http/api/Authentication"
import * as Described from "@satrail/http/api/Described"
import * as Acting from "@satrail/http/edge/Acting"
import * as EventIds from "@satrail/http/wire/EventIds"
import type * as Extension from "@satrail/http/edge/Extension"
import type * as Home from "@satrail/service/http/pages/Home"
import * as Http from "@satrail/service/http/Http"
import type { Readiness } from "@satrail/http/api/Readiness"
import { routerConfig } from "@satrail/http/wire/Routing"
import * as Lanes from "@satrail/http/edge/Lanes"
import * as RequestRates from "@satrail/http/edge/RequestRates"
import { PublicUrl } from "@satrail/http/edge/PublicUrl"
import * as Seal from "@satrail/http/wire/Seal"
import * as SignInLinks from "@satrail/http/api/SignInLinks"
import type * as PgJournal from "@satrail/postgres/journal/Journal"
import * as Storage from "@satrail/service/postgres/Storage"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as SimulatedDns from "@satrail/sandbox/SimulatedDns"
import * as SimulatedRelays from "@satrail/sandbox/SimulatedRelays"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import * as Time from "@satrail/sandbox/Time"
import * as WebDns from "@satrail/web/Dns"
import * as Outbound from "@satrail/web/Outbound"
import * as Rates from "@satrail/web/Rates"
import * as WebResolver from "@satrail/web/Resolver"
import * as WebSocketRelays from "@satrail/web/WebSocketRelays"
import { Clock, Context, Deferred, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { HttpRouter } from "effect/http"
import type { HttpApi } from "effect/http-api"
import path from "node:path"
import * as Banner from "../deployment/Banner.ts"
import type { NodeUnusable } from "../backends/NodeUnusable.ts"
import * as Remembered from "../backends/Remembered.ts"
import * as ChainNode from "../deployment/ChainNode.ts"
import type { Environment } from "../deployment/Environment.ts"
import * as DemoFile from "../deployment/DemoFile.ts"
import * as Identity from "../deployment/Identity.ts"
import * as Links from "../deployment/Links.ts"
import * as Secrets from "../deployment/Secrets.ts"
import * as Feature from "./features/Feature.ts"
import { all as features, features as everyFeature } from "./features/index.ts"
import * as Listener from "./Listener.ts"
import * as Simulated from "../deployment/Simulated.ts"
import type * as Controls from "../sandbox/Controls.ts"
import * as DatabaseSwitch from "../sandbox/DatabaseSwitch.ts"
import * as Reset from "../sandbox/Reset.ts"
import * as SandboxRoutes from "./SandboxRoutes.ts"
import * as Site from "./Site.ts"
import { version } from "../base/Version.ts"

/** The listening address is in use or is not an address of this machine. */
export class AddressUnusable extends Schema.TaggedError<AddressUnusable>()("AddressUnusable", {
  host: Schema.String,
  port: Schema.Int,
  cause: Schema.Defect()
}) {
  override get message(): string {
    const why = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `Cannot listen at ${this.host}:${this.port}: ${why}. Set HOST and PORT to a free address of this machine.`
  }
}

const reconciliation = ({ reconcileSeconds }: Environment): Policy.Settings["reconciliation"] => {
  const { reconciliation } = Policy.defaults
  const everyMillis = reconcileSeconds * 1000
  return { ...reconciliation, everyMillis, graceMillis: Math.min(reconciliation.graceMillis, everyMillis) }
}

/**
 * Returns the operator's settings from the environment. Simulated parts are polled more often, because a user
 * is waiting for the result.
 */
export const settingsOf = (environment: Environment): Policy.Settings => ({
  ...Policy.defaults,
  network: environment.network,
  domain: environment.domain,
  linkHost: Links.hostOf(environment),
  maxInvoice: environment.maxInvoice,
  maxWithdrawal: environment.maxWithdrawal,
  secondOperatorAbove: environment.secondOperatorAbove,
  paymentsAtOnce: environment.paymentsAtOnce,
  payoutWindowMillis: environment.payoutWindowSeconds * 1000,
  reconciliation: reconciliation(environment),
  lnurl: {
    ...Policy.defaults.lnurl,
    openPerCaller: 2 * environment.lnurlPerCaller,
    openPerAddress: 4 * environment.lnurlPerAddress,
    openPerCompany: Math.ceil(environment.lnurlOpen / 4),
    open: environment.lnurlOpen,
    perAddress: Throttle.perMinute(environment.lnurlPerAddress),
    perCaller: Throttle.perMinute(environment.lnurlPerCaller)
  },
  ...(Simulated.isSandbox(Simulated.of(environment)) && { trackMillis: { minimum: 100, maximum: 1000 } }),
  ...(environment.node === undefined && { invoicePollMillis: 5000 }),
  ...(environment.chainNode === undefined && { chainPollMillis: 250 })
})

const commits = ({ commitLanes, commitItems, commitWaiting }: Environment): PgJournal.Options => ({
  lanes: commitLanes,
  maxItemsPerFlush: commitItems,
  maxWaiting: commitWaiting
})

/** Provides an environment's storage ports. `isAway` makes the database unavailable for tests. */
export const storage = (
  environment: Environment,
  isAway?: () => boolean
): Layer.Layer<
  Storage.Storage,
  Layer.Error<ReturnType<typeof Storage.layer>> | Layer.Error<ReturnType<typeof Storage.layerEmbedded>>
> =>
  environment.databaseUrl === undefined
    ? Storage.layerEmbedded({
        directory: path.join(environment.dataDirectory, "database"),
        isAway,
        ...commits(environment)
      })
    : Storage.layer({
        url: environment.databaseUrl,
        readUrl: environment.databaseReadUrl,
        maxConnections: environment.databaseConnections,
        isAway,
        ...commits(environment)
      })

export const sandboxDirectory = (environment: Environment): string =>
  path.join(environment.dataDirectory, "sandbox")

/** Provides the sandbox. Its money is stored, but its other state is lost when the process exits. */
const sandbox = (environment: Environment) => {
  const directory = Simulated.hasMoney(Simulated.of(environment)) ? sandboxDirectory(environment) : undefined
  return Layer.merge(
    Sandbox.layer({ seed: environment.sandboxSeed, network: environment.network, directory }),
    SimulatedRelays.layer
  )
}

/** Fails if the database belongs to a real node, or to another simulated one. */
const boundToSimulated = Layer.effectDiscard(
  Effect.flatMap(LightningReceiver, ({ nodeId, network }) => {
    const place = {
      source: "simulated",
      at: "the simulated node",
      setting: "SATRAIL_SANDBOX_SEED",
      mayBeAway: () => false
    }
    return Remembered.identify(place, network, Effect.succeed({ nodeId, network }))
  })
)

/** Returns a layer without one of its services. */
const without = <I, S, A, E, R>(key: Context.Key<I, S>, layer: Layer.Layer<A, E, R>) =>
  Layer.effectContext(Effect.map(Layer.build(layer), Context.omit(key)))

/** Provides the guarded HTTP client, which is the only one for other parties' servers. */
export const guarded = ({ outboundAllow }: Environment) => Outbound.layer({ allow: outboundAllow })

/** Provides access to other parties' servers, name servers and relays. */
export const web = ({ bip353Resolvers }: Environment) =>
  Layer.mergeAll(WebResolver.layer, WebDns.layer({ validating: bip353Resolvers }), WebSocketRelays.layer)

const rates = (
  environment: Environment
): Layer.Layer<ExchangeRates, never, Outbound.Outbound | Journal | Records> =>
  environment.rates === "fixed" ? FixedRates.layer() : Rates.layer()

type Outside = Exclude<Satrail.Ports, Journal | Records | Tasks> | ChainBooks | Nostr.Relays

/** All errors that can occur while the outside layers are built. */
type Unusable =
  | Sandbox.LogUnusable
  | NodeUnusable
  | StoreUnavailable
  | Layer.Error<ReturnType<typeof ChainNode.layer>>

/**
 * Provides everything outside of the service, as configured by the environment. Each part is real or simulated
 * independently of the others, and nothing simulated is built if everything is real. Simulated parts include
 * their controls (`Sandbox`, `SimulatedDns`), and nodes with readable books include `LightningBooks`.
 */
export const outside = (environment: Environment): Layer.Layer<Outside, Unusable, Journal | Records> => {
  const simulated = Simulated.of(environment)
  const { node, chainNode, network } = environment
  const real = {
    lightning: node?.layer(network),
    chain: chainNode && ChainNode.layer(network, chainNode),
    web: simulated.web ? undefined : web(environment)
  }
  // A real node without a statement must not be compared with a simulated node's statement, and a simulated
  // node must not pay offers on behalf of a real one.
  const simulatedPorts =
    real.lightning === undefined
      ? Layer.provideMerge(boundToSimulated, sandbox(environment))
      : without(OfferSender, without(LightningBooks, sandbox(environment)))
  const parts =
    real.lightning !== undefined && real.chain !== undefined && real.web !== undefined
      ? Layer.mergeAll(real.lightning, real.chain, real.web)
      : // Real parts replace simulated ones.
        Layer.mergeAll(
          simulatedPorts,
          real.lightning ?? Layer.empty,
          real.chain ?? ChainNode.layerSimulated,
          real.web ?? Layer.empty
        )
  return Layer.provide(Layer.merge(parts, rates(environment)), guarded(environment))
}

/**
 * Fails if the database was created with another sandbox. A sandbox without simulated money has no identity.
 */
const identity = (environment: Environment) =>
  Simulated.hasMoney(Simulated.of(environment)) ? Identity.layer(sandboxDirectory(environment)) : Layer.empty

/** Provides the references that features need from outside. */
export const references = (environment: Environment): Layer.Layer<never> =>
  Feature.merged(
    features.flatMap(({ references }) => (references === undefined ? [] : [references(environment)]))
  )

/**
 * If everything is simulated, provides a clock that can be advanced to the layers above, and a database that
 * can be made unavailable.
 */
const movable = (environment: Environment, database: DatabaseSwitch.DatabaseSwitch["Service"]) =>
  Simulated.isFullySimulated(Simulated.of(environment))
    ? Layer.merge(
        Time.layer(sandboxDirectory(environment)),
        Layer.succeed(DatabaseSwitch.DatabaseSwitch, database)
      )
    : Layer.empty

/** Builds all services on top of the outside and the storage. */
export const servicesOver = <E, EO>(
  environment: Environment,
  theirs: Layer.Layer<Outside, EO, Journal | Records>,
  stored: Layer.Layer<Journal | Records | Tasks, E>,
  settings = settingsOf(environment)
) =>
  Satrail.layer(settings).pipe(
    Layer.provide(references(environment)),
    // Build the storage first, because it records which sandbox it belongs to, and only that sandbox may be
    // started.
    Layer.provideMerge(theirs),
    Layer.provideMerge(
      Layer.mergeAll(
        stored,
        Layer.succeed(Nostr.SecretKey, environment.nostrKey),
        Layer.succeed(ConfiguredToken, Secrets.operatorIdOf(environment)),
        Layer.succeed(Audit.Signing, Secrets.auditSignerOf(environment))
      )
    )
  )

/**
 * Builds all services and everything below them, which is all that the program needs except HTTP. The outside
 * is built from the environment unless the caller passes one.
 */
export const services = (
  environment: Environment,
  theirs: ReturnType<typeof outside> = outside(environment)
) => {
  const database = DatabaseSwitch.make()
  const identified = Layer.provideMerge(theirs, identity(environment))
  return Layer.provideMerge(
    servicesOver(environment, identified, storage(environment, database.isAway)),
    movable(environment, database)
  )
}

/** Reconciles only if both sides can be read. */
const reconciler = Layer.unwrap(
  Effect.map(Effect.serviceOption(LightningBooks), (books) =>
    Option.isNone(books)
      ? Layer.empty
      : Layer.provide(Reconciler.layerWorker, Layer.succeed(LightningBooks, books.value))
  )
)

/** Provides the features' workers that call other parties' servers. */
export const featureWorkers = (environment: Environment) =>
  // Pass the references explicitly, because the services' context does not contain them.
  Layer.provide(Feature.workers(everyFeature, environment), references(environment))

/** Provides the background workers. If the clock can be advanced, advancing it wakes them. */
export const workers = (environment: Environment) => {
  const all = Layer.mergeAll(Satrail.layerWorkers, reconciler, featureWorkers(environment))
  return Layer.unwrap(
    Effect.map(Effect.serviceOption(Time.Time), (time) =>
      Option.isNone(time) ? all : Layer.provide(all, Layer.succeed(Clock.Clock, time.value.waking))
    )
  )
}

/**
 * Returns the sealer for stored responses that contain a secret. Its key is derived from the same secret as
 * preimages, so it is the same in all processes and never changes.
 */
export const sealer = (environment: Environment): Seal.Sealer => Seal.make(Secrets.secretOf(environment))

/** The server's API if anything is simulated. Otherwise the server's API is `Api`. */
type SandboxedApi = HttpApi.HttpApi<"satrail", Groups | typeof SandboxRoutes.section.group>
const sandboxedApi = (api: Api): SandboxedApi => api.add(SandboxRoutes.section.group)
export const api: SandboxedApi = sandboxedApi(Api)

/** All core services, and the process's readiness checks. */
type Services = Layer.Success<ReturnType<typeof Satrail.layer>> | Readiness

/** Returns the controls of the simulated parts, if there are any. */
const controlsIn = (environment: Environment, services: Context.Context<Services>) => {
  const controls = Option.all({
    sandbox: Context.getOption(services, Sandbox.Sandbox),
    names: Context.getOption(services, SimulatedDns.SimulatedDns)
  })
  const simulated = Simulated.of(environment)
  const given = (found: Option.Option.Value<typeof controls>): Controls.Given => ({
    ...found,
    simulated,
    rates: simulated.rates ? Context.getOrUndefined(services, FixedRates.SimulatedRates) : undefined,
    time: Context.getOrUndefined(services, Time.Time),
    database: Context.getOrUndefined(services, DatabaseSwitch.DatabaseSwitch),
    reset: Context.getOrUndefined(services, Reset.Reset)
  })
  return Option.map(
    Option.filter(controls, () => Simulated.isPartlySimulated(simulated)),
    given
  )
}

/** Provides what the features add to the sandbox routes. */
const sandboxed = (controls: Controls.Given): Layer.Layer<never> =>
  Feature.merged(features.flatMap(({ sandbox }) => (sandbox === undefined ? [] : [sandbox(controls)])))

/** Returns the data for the page at `/`. */
const aboutOf = (environment: Environment): Home.About => {
  const { lightning, chain, web } = Simulated.of(environment)
  const simulated = [
    ...(lightning ? ["the Lightning network"] : []),
    ...(chain ? ["the chain"] : []),
    ...(environment.rates === "fixed" ? ["exchange rates"] : []),
    ...(web ? ["other parties' servers"] : [])
  ]
  const demoKey = path.join(environment.dataDirectory, "demo.json")
  // A public URL means that a proxy lets other machines connect.
  const isOpen =
    environment.publicUrl === undefined &&
    environment.demo &&
    Simulated.isSandbox(Simulated.of(environment)) &&
    Links.isLocal(environment)
  return {
    version,
    network: environment.network,
    simulated,
    ...(environment.demo && { demoKey }),
    ...(isOpen && {
      sandboxKey: () => Option.getOrUndefined(DemoFile.read(environment.dataDirectory))?.api_key
    })
  }
}

/** The services available to an extension's routes: all core services, and the services for serving files. */
export type Needs = HttpRouter.HttpRouter | Services | Layer.Success<typeof NodeHttpServer.layerHttpServices>

/** Extensions served next to the API, a signal that the server is starting to close, and sign-in links. */
export interface Beside<E = never> {
  readonly extensions?: ReadonlyArray<Extension.Extension<E, Needs>>
  readonly closing?: Effect.Effect<void>
  /** Whether only this program sends requests, through `Http.inside`. */
  readonly isInside?: boolean
  /** The printed links, each of which signs in to the console once. */
  readonly links?: SignInLinks.Links | undefined
}

/**
 * Builds all routes. All services, including those for serving files, are provided only to the routes. The
 * framework copies the server's context into every request, so each service in that context would slow down
 * every request a little.
 */
export const routes = <E = never>(
  environment: Environment,
  operatorToken: Redacted.Redacted | undefined,
  services: Context.Context<Services>,
  { links, extensions = [], isInside = false, ...beside }: Beside<E> = {}
) => {
  const { corsOrigins, maxBodyBytes, proxies, publicUrl, requestLog: logsRequests } = environment
  const own = makeApi(Context.get(services, OwnRoutes))
  const options = {
    corsOrigins,
    maxBodyBytes,
    proxies,
    publicUrl,
    logsRequests,
    wantsHost: true,
    console: environment.console,
    about: aboutOf(environment),
    site: Site.extension(),
    extensions: [...extensions, ...own.extensions.map((extension) => extension(proxies))],
    ...beside
  }
  const handled = Option.match(controlsIn(environment, services), {
    onNone: () =>
      Layer.provide(isInside ? Http.layerInside(own.api) : Http.layerOf(own.api, options), [
        Http.layerHandlers,
        own.layer
      ]),
    onSome: (controls) =>
      Layer.provide(
        isInside ? Http.layerInside(sandboxedApi(own.api)) : Http.layerOf(sandboxedApi(own.api), options),
        [Http.layerHandlers, own.layer, SandboxRoutes.layer(controls), sandboxed(controls)]
      )
  })
  return handled.pipe(
    Layer.provide(Http.layerMiddlewares),
    Layer.provide(
      Layer.mergeAll(
        own.credentials,
        Layer.succeed(OperatorToken, operatorToken),
        Layer.succeed(Described.Described, Banner.described(environment)),
        Layer.sync(RequestRates.RequestRates, () =>
          RequestRates.make({
            perKey: environment.requestsPerKey || undefined,
            perStranger: environment.requestsPerStranger || undefined,
            proxies
          })
        ),
        Layer.sync(Lanes.Lanes, Lanes.make),
        Layer.succeed(Acting.Proxies, proxies),
        links === undefined ? Layer.empty : Layer.succeed(SignInLinks.SignInLinks, links),
        Layer.succeed(PublicUrl, Links.publicUrlOf(environment)),
        Layer.succeed(Seal.Seal, sealer(environment)),
        Layer.succeed(EventIds.Ids, EventIds.make(Secrets.secretOf(environment))),
        references(environment)
      )
    ),
    Layer.provide(Layer.merge(Layer.succeedContext(services), NodeHttpServer.layerHttpServices))
  )
}

/** Returns the connection limits. Closed connections are logged at most once per minute. */
const refusing = Effect.fnUntraced(function* ({ maxConnections, proxies }: Environment) {
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const mayTell = Throttle.make(Throttle.perMinute(1))
  const whenFull = () => {
    if (mayTell("", Date.now()))
      run(Effect.logWarning("connections: too many; ended one", { maxConnections }))
  }
  return { maxConnections, proxies, whenFull }
})

/** Listens while the scope is open. */
const listener = (environment: Environment) =>
  Layer.catchTag(
    Layer.unwrap(
      Effect.map(refusing(environment), (limits) =>
        NodeHttpServer.layerServer(() => Listener.make({}, limits, environment.publicUrl), {
          port: environment.port,
          host: environment.host,
          gracefulShutdownTimeout: `${environment.shutdownSeconds} seconds`
        })
      )
    ),
    "ServeError",
    ({ cause }) =>
      Layer.effectContext(new AddressUnusable({ host: environment.host, port: environment.port, cause }))
  )

/** Serves the API and `extensions` over HTTP while the scope is open. */
export const server = <E = never>(
  environment: Environment,
  operatorToken: Redacted.Redacted | undefined,
  services: Context.Context<Services>,
  extensions: ReadonlyArray<Extension.Extension<E, Needs>> = [],
  links?: SignInLinks.Links
) =>
  Layer.unwrap(
    Effect.map(Deferred.make<void>(), (closed) => {
      const all = routes(environment, operatorToken, services, {
        extensions,
        links,
        closing: Deferred.await(closed)
      })
      const time = Context.getOrUndefined(services, Time.Time)
      const running = HttpRouter.serve(all, { disableLogger: true, disableListenLog: true, routerConfig })
      // Requests use the same clock as everything else.
      const served =
        time === undefined ? running : Layer.provide(running, Layer.succeed(Clock.Clock, time.clock))
      // The last layer is closed first. So `closed` is signaled, and streams end, before the server waits for
      // pending responses.
      const closing = Layer.effectDiscard(Effect.addFinalizer(() => Deferred.succeed(closed, undefined)))
      return Layer.provideMerge(closing, Layer.provideMerge(served, listener(environment)))
    })
  )
