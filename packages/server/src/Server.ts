import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type { ApiKeys } from "@satrail/core/ApiKeys"
import { ChainSource } from "@satrail/core/ChainSource"
import type { Companies } from "@satrail/core/Companies"
import type { Domains } from "@satrail/core/Domains"
import type { ExchangeRates } from "@satrail/core/ExchangeRates"
import * as Id from "@satrail/core/Id"
import type { Invoices } from "@satrail/core/Invoices"
import type { Journal } from "@satrail/core/Journal"
import type { LightningAddresses } from "@satrail/core/LightningAddresses"
import { LightningReceiver } from "@satrail/core/LightningReceiver"
import type { OnChainAddresses } from "@satrail/core/OnChainAddresses"
import { Names } from "@satrail/core/Names"
import * as Nostr from "@satrail/core/Nostr"
import type { PayRequests } from "@satrail/core/PayRequests"
import * as Policy from "@satrail/core/Policy"
import type { Prices } from "@satrail/core/Prices"
import * as Reconciler from "@satrail/core/Reconciler"
import type { Reconciliation } from "@satrail/core/Reconciliation"
import { Records } from "@satrail/core/Records"
import { Resolver } from "@satrail/core/Resolver"
import * as Satrail from "@satrail/core/Satrail"
import * as Throttle from "@satrail/core/Throttle"
import type { Transactions } from "@satrail/core/Transactions"
import type { Vouchers } from "@satrail/core/Vouchers"
import type { Withdrawals } from "@satrail/core/Withdrawals"
import * as Zaps from "@satrail/core/Zaps"
import { Api } from "@satrail/http/Api"
import { OperatorToken } from "@satrail/http/Authentication"
import { Readiness } from "@satrail/http/Health"
import * as Http from "@satrail/http/Http"
import { routerConfig } from "@satrail/http/Routing"
import type * as Commits from "@satrail/postgres/Journal"
import * as Storage from "@satrail/postgres/Storage"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import type * as PretendNames from "@satrail/sandbox/PretendNames"
import * as PretendRelays from "@satrail/sandbox/PretendRelays"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import * as WebNames from "@satrail/web/Names"
import * as Outbound from "@satrail/web/Outbound"
import * as Rates from "@satrail/web/Rates"
import * as WebResolver from "@satrail/web/Resolver"
import * as WebSocketRelays from "@satrail/web/WebSocketRelays"
import { type Context, Effect, Layer, type Redacted, Schema } from "effect"
import { HttpRouter } from "effect/http"
import path from "node:path"
import * as ChainNode from "./ChainNode.ts"
import type { Environment } from "./Environment.ts"
import * as Identity from "./Identity.ts"
import * as Listener from "./Listener.ts"
import * as LndNode from "./LndNode.ts"
import * as SandboxRoutes from "./SandboxRoutes.ts"

/** Nobody can listen there: another program does, or the address is not this machine's. */
export class AddressUnusable extends Schema.TaggedError<AddressUnusable>()("AddressUnusable", {
  host: Schema.String,
  port: Schema.Int,
  cause: Schema.Defect()
}) {
  override get message(): string {
    const why = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `Requests cannot be taken at ${this.host}:${this.port}: ${why}. Set PORT and HOST to an address of this machine that is free.`
  }
}

const reconciliation = ({ reconcileSeconds }: Environment): Policy.Reconciliation => {
  const { reconciliation } = Policy.defaults
  const everyMillis = reconcileSeconds * 1000
  return { ...reconciliation, everyMillis, graceMillis: Math.min(reconciliation.graceMillis, everyMillis) }
}

/** The operator's decisions, as far as the environment makes them. On the sandbox things are looked at more often, since a person is waiting. */
export const settingsOf = (environment: Environment): Policy.Settings => ({
  ...Policy.defaults,
  network: environment.network,
  domain: environment.domain,
  maxInvoice: environment.maxInvoice,
  maxWithdrawal: environment.maxWithdrawal,
  payoutWindowMillis: environment.payoutWindowSeconds * 1000,
  reconciliation: reconciliation(environment),
  lnurl: {
    ...Policy.defaults.lnurl,
    perAddress: Throttle.perMinute(environment.lnurlPerAddress),
    perCaller: Throttle.perMinute(environment.lnurlPerCaller)
  },
  trackMillis: { minimum: 100, maximum: 1000 },
  invoicePollMillis: 5000,
  chainPollMillis: environment.chainNode === undefined ? 250 : Policy.defaults.chainPollMillis
})

const commits = ({ commitLanes, commitItems, commitWaiting }: Environment): Commits.Options => ({
  lanes: commitLanes,
  maxItemsPerFlush: commitItems,
  maxWaiting: commitWaiting
})

/** The storage ports, as the environment names them. */
export const storage = (
  environment: Environment
): Layer.Layer<Storage.Storage, Layer.Error<ReturnType<typeof Storage.layer>> | Layer.Error<ReturnType<typeof Storage.layerEmbedded>>> =>
  environment.databaseUrl === undefined
    ? Storage.layerEmbedded({ directory: path.join(environment.dataDirectory, "database"), ...commits(environment) })
    : Storage.layer({ url: environment.databaseUrl, maxConnections: environment.databaseConnections, ...commits(environment) })

export const sandboxDirectory = (environment: Environment): string => path.join(environment.dataDirectory, "sandbox")

export const nodes = (environment: Environment) => {
  const sandbox = Sandbox.layer({ seed: environment.sandboxSeed, network: environment.network, directory: sandboxDirectory(environment) })
  const pretend = Layer.merge(sandbox, PretendRelays.layer)
  // A real node takes the place of the pretend one, and a real chain that of the pretend one: each is chosen on its own.
  const lightning = environment.lnd === undefined ? pretend : Layer.merge(pretend, LndNode.layer(environment, environment.lnd))
  return environment.chainNode === undefined ? lightning : Layer.merge(lightning, ChainNode.layer(environment, environment.chainNode))
}

const rates = (environment: Environment): Layer.Layer<ExchangeRates, never, Outbound.Outbound | Journal | Records> =>
  environment.rates === "fixed" ? FixedRates.layer() : Rates.layer()

/** Who is asked about other people's addresses: the sandbox, as it is there already, or their servers. */
const resolver = (environment: Environment): Layer.Layer<Resolver, never, Outbound.Outbound | Resolver> =>
  environment.resolver === "sandbox" ? Layer.effect(Resolver, Resolver) : WebResolver.layer

/** Who is asked what the domain name system says: the sandbox, or name servers. */
const names = (environment: Environment): Layer.Layer<Names, never, Names> =>
  environment.resolver === "sandbox" ? Layer.effect(Names, Names) : WebNames.layer()

/** Who keeps receipts of zaps: the sandbox, or relays. */
const relays = (environment: Environment): Layer.Layer<Nostr.Relays, never, Outbound.Outbound | Nostr.Relays> =>
  environment.resolver === "sandbox" ? Layer.effect(Nostr.Relays, Nostr.Relays) : WebSocketRelays.layer

/** What is asked of others, over the one guarded way out. */
const web = (environment: Environment) =>
  Layer.mergeAll(rates(environment), resolver(environment), names(environment), relays(environment)).pipe(
    Layer.provide(Outbound.layer({ allow: environment.outboundAllow }))
  )

/** Every service and everything below it: what the program needs besides HTTP. Its nodes are the environment's unless others are given. */
export const services = (environment: Environment, ours: ReturnType<typeof nodes> = nodes(environment)) =>
  Satrail.layer(settingsOf(environment)).pipe(
    // The storage first: it knows which sandbox it belongs to, and another one must not be begun beside it.
    Layer.provideMerge(Layer.provideMerge(web(environment), ours)),
    Layer.provideMerge(Identity.layer(sandboxDirectory(environment))),
    Layer.provideMerge(Layer.merge(storage(environment), Layer.succeed(Nostr.SecretKey, environment.nostrKey)))
  )

/** The work that nobody asks for. Books are compared where both sides can be read: of lnd, with a macaroon for that. */
export const workers = ({ nostrKey, lnd }: Environment) => {
  const others = lnd !== undefined && lnd.booksMacaroon === undefined ? Layer.empty : Reconciler.layerWorker
  const all = Layer.merge(Satrail.layerWorkers, others)
  return nostrKey === undefined ? all : Layer.merge(all, Zaps.layerWorker)
}

/** What `/readyz` asks: the store, the node, the chain, whether `isPrepared`, and that it is not `isStopping`. */
export const readiness = (isPrepared: Effect.Effect<boolean>, isStopping: Effect.Effect<boolean> = Effect.succeed(false)) =>
  Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const records = yield* Records
      const receiver = yield* LightningReceiver
      const chain = yield* ChainSource
      return [
        { name: "store", check: records.company(Id.nil) },
        { name: "node", check: receiver.lookupInvoice("00".repeat(32)) },
        { name: "chain", check: chain.tip },
        {
          name: "demo",
          check: Effect.filterOrFail(
            isPrepared,
            (is) => is,
            () => "it is being prepared"
          )
        },
        {
          name: "running",
          check: Effect.filterOrFail(
            isStopping,
            (is) => !is,
            () => "it is being stopped"
          )
        }
      ]
    })
  )

/** Everything that this server answers to. */
export const api = Api.add(SandboxRoutes.Group)

type Services =
  | ApiKeys
  | Companies
  | Domains
  | Invoices
  | LightningAddresses
  | OnChainAddresses
  | PayRequests
  | Prices
  | Reconciliation
  | Transactions
  | Vouchers
  | Withdrawals
  | Readiness
  | Sandbox.Sandbox
  | PretendNames.PretendNames

/**
 * Every route of this server. The services, and what serves files, are the routes' alone: the framework copies what surrounds the server into every
 * request, so that whatever were there would cost each of them a little.
 */
export const routes = (environment: Environment, operatorToken: Redacted.Redacted, services: Context.Context<Services>) =>
  Http.layerOf(api, {
    corsOrigins: environment.corsOrigins,
    maxBodyBytes: environment.maxBodyBytes,
    proxies: environment.proxies,
    wantsHost: true
  }).pipe(
    Layer.provide(Layer.merge(Http.layerHandlers, SandboxRoutes.layer)),
    Layer.provide(Http.layerMiddlewares),
    Layer.provide(Layer.succeed(OperatorToken, operatorToken)),
    Layer.provide(Layer.merge(Layer.succeedContext(services), NodeHttpServer.layerHttpServices))
  )

/** Answers over HTTP for as long as the scope is open. */
export const server = (environment: Environment, operatorToken: Redacted.Redacted, services: Context.Context<Services>) =>
  HttpRouter.serve(routes(environment, operatorToken, services), { disableLogger: true, disableListenLog: true, routerConfig }).pipe(
    Layer.provideMerge(
      Layer.catchTag(
        NodeHttpServer.layerServer(Listener.make, {
          port: environment.port,
          host: environment.host,
          gracefulShutdownTimeout: `${environment.shutdownSeconds} seconds`
        }),
        "ServeError",
        ({ cause }) => Layer.effectContext(new AddressUnusable({ host: environment.host, port: environment.port, cause }))
      )
    )
  )
