import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Nostr from "@satrail/bitcoin/Nostr"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import * as Caller from "@satrail/core/base/Caller"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Audit from "@satrail/core/ledger/Audit"
import * as Throttle from "@satrail/core/base/Throttle"
import type { Journal, StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import type { ChainBooks } from "@satrail/core/nodes/ChainBooks"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import type { ExchangeRates } from "@satrail/core/nodes/ExchangeRates"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { OfferSender } from "@satrail/core/nodes/OfferSender"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import * as Policy from "@satrail/core/service/Policy"
import * as Zaps from "@satrail/core/features/zaps/Zaps"
import * as Reconciler from "@satrail/core/reports/reconciliation/Reconciler"
import type { Records } from "@satrail/core/service/Records"
import { Place } from "@satrail/core/features/wallet-connect/WalletConnections"
import * as WalletService from "@satrail/core/features/wallet-connect/WalletService"
import * as Satrail from "@satrail/core/service/Satrail"
import { Api, type Groups } from "@satrail/http/Api"
import { OperatorToken } from "@satrail/http/api/Authentication"
import * as Described from "@satrail/http/api/Described"
import * as EventBody from "@satrail/http/events/EventBody"
import * as Acting from "@satrail/http/edge/Acting"
import * as EventIds from "@satrail/http/wire/EventIds"
import type * as Extension from "@satrail/http/edge/Extension"
import type * as Home from "@satrail/http/pages/Home"
import * as Http from "@satrail/http/Http"
import { Readiness } from "@satrail/http/api/Readiness"
import { routerConfig } from "@satrail/http/wire/Routing"
import * as Lanes from "@satrail/http/edge/Lanes"
import * as RequestRates from "@satrail/http/edge/RequestRates"
import * as Seal from "@satrail/http/wire/Seal"
import * as SignInLinks from "@satrail/http/features/sessions/SignInLinks"
import * as WebhookKeys from "@satrail/http/features/webhooks/WebhookKeys"
import * as Commits from "@satrail/postgres/journal/Commits"
import type * as PgJournal from "@satrail/postgres/journal/Journal"
import * as Storage from "@satrail/postgres/Storage"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as PretendNames from "@satrail/sandbox/PretendNames"
import * as PretendRelays from "@satrail/sandbox/PretendRelays"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import * as Time from "@satrail/sandbox/Time"
import * as WebNames from "@satrail/web/Names"
import * as Outbound from "@satrail/web/Outbound"
import * as Rates from "@satrail/web/Rates"
import * as WebResolver from "@satrail/web/Resolver"
import * as WebhookPoster from "@satrail/web/WebhookPoster"
import * as WebSocketRelays from "@satrail/web/WebSocketRelays"
import * as WebSocketSessions from "@satrail/web/WebSocketSessions"
import { Clock, Context, Deferred, Effect, Layer, Option, Redacted, Schema } from "effect"
import { HttpRouter } from "effect/http"
import type { HttpApi } from "effect/http-api"
import { hkdfSync } from "node:crypto"
import path from "node:path"
import * as Banner from "../deployment/Banner.ts"
import type { NodeUnusable } from "../backends/NodeUnusable.ts"
import * as ChainNode from "../deployment/ChainNode.ts"
import type { Environment } from "../deployment/Environment.ts"
import * as Identity from "../deployment/Identity.ts"
import * as Links from "../deployment/Links.ts"
import * as Listener from "./Listener.ts"
import * as Pretended from "../deployment/Pretended.ts"
import type * as Controls from "../sandbox/Controls.ts"
import * as DatabaseSwitch from "../sandbox/DatabaseSwitch.ts"
import * as Payer from "../sandbox/Payer.ts"
import * as Reset from "../sandbox/Reset.ts"
import * as SandboxRoutes from "./SandboxRoutes.ts"
import * as Site from "./Site.ts"
import { version } from "../base/Version.ts"

/** The address cannot be listened on: another program does, or it is not this machine's. */
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

const reconciliation = ({ reconcileSeconds }: Environment): Policy.Settings["reconciliation"] => {
  const { reconciliation } = Policy.defaults
  const everyMillis = reconcileSeconds * 1000
  return { ...reconciliation, everyMillis, graceMillis: Math.min(reconciliation.graceMillis, everyMillis) }
}

/** The operator's decisions, as far as the environment makes them. What is pretended is polled more often, since a person is waiting. */
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
  ...(Pretended.isSandbox(Pretended.of(environment)) && { trackMillis: { minimum: 100, maximum: 1000 } }),
  ...(environment.node === undefined && { invoicePollMillis: 5000 }),
  ...(environment.chainNode === undefined && { chainPollMillis: 250 })
})

const commits = ({ commitLanes, commitItems, commitWaiting }: Environment): PgJournal.Options => ({
  lanes: commitLanes,
  maxItemsPerFlush: commitItems,
  maxWaiting: commitWaiting
})

/** The storage ports, as the environment names them. `isAway` takes the database out of reach, for trying. */
export const storage = (
  environment: Environment,
  isAway?: () => boolean
): Layer.Layer<Storage.Storage, Layer.Error<ReturnType<typeof Storage.layer>> | Layer.Error<ReturnType<typeof Storage.layerEmbedded>>> =>
  environment.databaseUrl === undefined
    ? Storage.layerEmbedded({ directory: path.join(environment.dataDirectory, "database"), isAway, ...commits(environment) })
    : Storage.layer({
        url: environment.databaseUrl,
        readUrl: environment.databaseReadUrl,
        maxConnections: environment.databaseConnections,
        isAway,
        ...commits(environment)
      })

export const sandboxDirectory = (environment: Environment): string => path.join(environment.dataDirectory, "sandbox")

/** The sandbox. It is kept where it has money; the rest of it forgets with the process. */
const sandbox = (environment: Environment) => {
  const directory = Pretended.hasMoney(Pretended.of(environment)) ? sandboxDirectory(environment) : undefined
  return Layer.merge(Sandbox.layer({ seed: environment.sandboxSeed, network: environment.network, directory }), PretendRelays.layer)
}

/** A layer that does not have this service. */
const without = <I, S, A, E, R>(key: Context.Key<I, S>, layer: Layer.Layer<A, E, R>) =>
  Layer.effectContext(Effect.map(Layer.build(layer), Context.omit(key)))

/** The one guarded way out, of everything that asks others. */
export const guarded = ({ outboundAllow }: Environment) => Outbound.layer({ allow: outboundAllow })

/** Other people's servers, name servers and relays. */
export const web = ({ bip353Resolvers }: Environment) =>
  Layer.mergeAll(WebResolver.layer, WebNames.layer({ validating: bip353Resolvers }), WebSocketRelays.layer)

const rates = (environment: Environment): Layer.Layer<ExchangeRates, never, Outbound.Outbound | Journal | Records> =>
  environment.rates === "fixed" ? FixedRates.layer() : Rates.layer()

type Outside = Exclude<Satrail.Ports, Journal | Records | Tasks> | ChainBooks | Nostr.Relays

/** Whatever can go wrong when the outside is built. */
type Unusable = Sandbox.LogUnusable | NodeUnusable | StoreUnavailable | Layer.Error<ReturnType<typeof ChainNode.layer>>

/**
 * Everything outside, as the environment names it: each part is real or pretended on its own. Nothing pretended is built where everything is real.
 * Where a part is pretended, its controls (`Sandbox`, `PretendNames`) are there too, and where books can be read, `LightningBooks`.
 */
export const outside = (environment: Environment): Layer.Layer<Outside, Unusable, Journal | Records> => {
  const pretended = Pretended.of(environment)
  const { node, chainNode, network } = environment
  const real = {
    lightning: node?.layer(network),
    chain: chainNode && ChainNode.layer(network, chainNode),
    web: pretended.web ? undefined : web(environment)
  }
  // A real node without a statement has none: it is not compared with that of a pretended one. Nor does a pretended one pay offers for it.
  const pretends = real.lightning === undefined ? sandbox(environment) : without(OfferSender, without(LightningBooks, sandbox(environment)))
  const parts =
    real.lightning !== undefined && real.chain !== undefined && real.web !== undefined
      ? Layer.mergeAll(real.lightning, real.chain, real.web)
      : // What is real takes the place of what is pretended.
        Layer.mergeAll(pretends, real.lightning ?? Layer.empty, real.chain ?? Layer.empty, real.web ?? Layer.empty)
  return Layer.provide(Layer.merge(parts, rates(environment)), guarded(environment))
}

/** Fails where the database was begun with another sandbox. Without pretended money there is none. */
const identity = (environment: Environment) =>
  Pretended.hasMoney(Pretended.of(environment)) ? Identity.layer(sandboxDirectory(environment)) : Layer.empty

/** It follows from what preimages follow from too, which is the same in all processes and for ever. */
const secretOf = ({ node, sandboxSeed }: Environment): Redacted.Redacted => node?.invoiceSecret ?? Redacted.make(sandboxSeed)

/** What heads of the audit log are signed with. */
export const auditKeyOf = (environment: Environment): Redacted.Redacted => {
  const key = Buffer.from(hkdfSync("sha256", Redacted.value(secretOf(environment)), "", "satrail: audit heads", 32))
  return Redacted.make(key.toString("hex"), { label: "audit key" })
}

/** Where apps reach this service as a wallet, and the key that it answers with: 32 bytes from the same secret. */
export const walletPlace = (environment: Environment): (typeof Place)["Service"] => {
  const { nwcRelays: relays } = environment
  if (relays === undefined) return undefined
  const key = Buffer.from(hkdfSync("sha256", Redacted.value(secretOf(environment)), "", "satrail: nostr wallet connect", 32))
  return { relays, secretKey: Redacted.make(key.toString("hex"), { label: "wallet key" }) }
}

/** Whether only this machine reaches the service. */
export const isLocal = ({ host }: Environment): boolean => host === "localhost" || Caller.isLoopback(host)

/**
 * Where webhooks may go. In a sandbox that only this machine reaches: anywhere. In any other sandbox a caller may be a stranger, so they go to public hosts, to
 * `SATRAIL_OUTBOUND_ALLOW`, and to this process's own inboxes.
 */
export const webhookTargets = (environment: Environment): WebhookPoster.Options => {
  const { port, outboundAllow } = environment
  if (!Pretended.of(environment).web) return { outbound: { allow: outboundAllow } }
  if (isLocal(environment)) return { isOpen: true }
  const own = ["127.0.0.1", "localhost"].map((name) => [`${name}:${port}`, new URL(`http://127.0.0.1:${port}`)] as const)
  return { outbound: { allow: new Map([...outboundAllow, ...own]) } }
}

/** What webhooks are sent with, and what their secrets are kept with. */
export const webhooks = (environment: Environment) =>
  Layer.merge(WebhookPoster.layer(webhookTargets(environment)), WebhookKeys.layer(environment.webhookKey ?? secretOf(environment)))

/** Where nothing at all is real: a clock that can be advanced, for everything above it, and a database that can be taken away. */
const movable = (environment: Environment, database: DatabaseSwitch.DatabaseSwitch["Service"]) =>
  Pretended.isWhole(Pretended.of(environment))
    ? Layer.merge(Time.layer(sandboxDirectory(environment)), Layer.succeed(DatabaseSwitch.DatabaseSwitch, database))
    : Layer.empty

/** Every service and everything below it: what the program needs besides HTTP. What is outside is the environment's unless another is given. */
export const services = (environment: Environment, theirs: ReturnType<typeof outside> = outside(environment)) => {
  const database = DatabaseSwitch.make()
  return Satrail.layer(settingsOf(environment)).pipe(
    Layer.provide(webhooks(environment)),
    // The storage first: it knows which sandbox it belongs to, and another one must not be begun beside it.
    Layer.provideMerge(theirs),
    Layer.provideMerge(identity(environment)),
    Layer.provideMerge(
      Layer.mergeAll(
        storage(environment, database.isAway),
        Layer.succeed(Nostr.SecretKey, environment.nostrKey),
        Layer.succeed(Audit.HeadKey, auditKeyOf(environment)),
        Layer.succeed(Place, walletPlace(environment))
      )
    ),
    Layer.provideMerge(movable(environment, database))
  )
}

/** Books are compared where both sides can be read. */
const reconciler = Layer.unwrap(
  Effect.map(Effect.serviceOption(LightningBooks), (books) =>
    Option.isNone(books) ? Layer.empty : Layer.provide(Reconciler.layerWorker, Layer.succeed(LightningBooks, books.value))
  )
)

/** What sends webhooks. */
export const webhookWorker = (environment: Environment) => {
  const ids = Layer.succeed(EventIds.Ids, EventIds.make(secretOf(environment)))
  return Layer.provide(Satrail.layerWebhooks, [Layer.provide(EventBody.layer, ids), webhooks(environment)])
}

/** Background workers. Where the clock can be advanced, they wake up for it. */
export const workers = (environment: Environment) => {
  const most = Layer.mergeAll(Satrail.layerWorkers, reconciler, webhookWorker(environment))
  const zaps = environment.nostrKey === undefined ? most : Layer.merge(most, Zaps.layerWorker)
  const sessions = Layer.provide(WebSocketSessions.layer, guarded(environment))
  const all = environment.nwcRelays === undefined ? zaps : Layer.merge(zaps, Layer.provide(WalletService.layerWorker, sessions))
  return Layer.unwrap(
    Effect.map(Effect.serviceOption(Time.Time), (time) =>
      Option.isNone(time) ? all : Layer.provide(all, Layer.succeed(Clock.Clock, time.value.waking))
    )
  )
}

/** What `/readyz` asks: the store, the node, the chain, whether `isPrepared`, and that it is not `isStopping`. */
export const readiness = (isPrepared: Effect.Effect<boolean>, isStopping: Effect.Effect<boolean> = Effect.succeed(false)) =>
  Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const records = yield* AccountReads
      const commits = yield* Effect.serviceOption(Commits.Commits)
      const receiver = yield* LightningReceiver
      const chain = yield* ChainSource
      const written = Option.match(commits, { onNone: () => Effect.void, onSome: ({ check }) => check })
      return [
        { name: "store", check: Effect.andThen(written, records.company(CompanyId.operator)) },
        { name: "node", check: receiver.lookupInvoice(PaymentHash.make("00".repeat(32))) },
        { name: "chain", check: chain.tip },
        {
          name: "started",
          isOurs: true,
          check: Effect.filterOrFail(
            isPrepared,
            (is) => is,
            () => ({ reason: "the process is starting" })
          )
        },
        {
          name: "running",
          isOurs: true,
          check: Effect.filterOrFail(
            isStopping,
            (is) => !is,
            () => ({ reason: "the process is being stopped" })
          )
        }
      ]
    })
  )

/** What answers with a secret in them are sealed with: it follows from what preimages follow from too, which is the same in all processes and for ever. */
const sealer = (environment: Environment): Seal.Sealer => Seal.make(secretOf(environment))

/** Everything that this server answers to where something is pretended; `Api` alone where nothing is. */
export const api: HttpApi.HttpApi<"satrail", Groups | typeof SandboxRoutes.section.group> = Api.add(SandboxRoutes.section.group)

/** Every service of the core, and how ready the process is. */
type Services = Layer.Success<ReturnType<typeof Satrail.layer>> | Readiness

/** The controls of what is pretended, where anything is. */
const controlsIn = (environment: Environment, services: Context.Context<Services>) => {
  const controls = Option.all({
    sandbox: Context.getOption(services, Sandbox.Sandbox),
    names: Context.getOption(services, PretendNames.PretendNames)
  })
  const pretended = Pretended.of(environment)
  const given = (found: Option.Option.Value<typeof controls>): Controls.Given => ({
    ...found,
    pretended,
    rates: pretended.rates ? Context.getOrUndefined(services, FixedRates.PretendRates) : undefined,
    time: Context.getOrUndefined(services, Time.Time),
    database: Context.getOrUndefined(services, DatabaseSwitch.DatabaseSwitch),
    reset: Context.getOrUndefined(services, Reset.Reset)
  })
  return Option.map(
    Option.filter(controls, () => Pretended.isAny(pretended)),
    given
  )
}

/** What the page at `/` says. */
const aboutOf = (environment: Environment): Home.About => {
  const { lightning, chain, web } = Pretended.of(environment)
  const pretended = [
    ...(lightning ? ["the Lightning network"] : []),
    ...(chain ? ["the chain"] : []),
    ...(environment.rates === "fixed" ? ["exchange rates"] : []),
    ...(web ? ["other people's servers"] : [])
  ]
  const demoKey = path.join(environment.dataDirectory, "demo.json")
  return { version, network: environment.network, pretended, ...(environment.demo && { demoKey }) }
}

/** What an extension of this server may ask for when its routes are made: any service, and what serves files. */
export type Needs = HttpRouter.HttpRouter | Services | Layer.Success<typeof NodeHttpServer.layerHttpServices>

/** What is served beside the API, and when the server begins to close. */
export interface Beside<E = never> {
  readonly extensions?: ReadonlyArray<Extension.Extension<E, Needs>>
  readonly closing?: Effect.Effect<void>
  /** Links that were printed, each of which signs in to the console once. */
  readonly links?: SignInLinks.Links | undefined
}

/**
 * Every route of this server. The services, and what serves files, are the routes' alone: the framework copies what surrounds the server into every
 * request, so that whatever were there would cost each of them a little.
 */
export const routes = <E = never>(
  environment: Environment,
  operatorToken: Redacted.Redacted | undefined,
  services: Context.Context<Services>,
  { links, ...beside }: Beside<E> = {}
) => {
  const { corsOrigins, maxBodyBytes, proxies, publicUrl, requestLog: logsRequests } = environment
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
    ...beside
  }
  const handled = Option.match(controlsIn(environment, services), {
    onNone: () => Layer.provide(Http.layerOf(Api, options), Http.layerHandlers),
    onSome: (controls) =>
      Layer.provide(Http.layerOf(api, options), [Http.layerHandlers, SandboxRoutes.layer(controls), Payer.layer(controls)])
  })
  return handled.pipe(
    Layer.provide(Http.layerMiddlewares),
    Layer.provide(
      Layer.mergeAll(
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
        Layer.succeed(Seal.Seal, sealer(environment)),
        Layer.succeed(EventIds.Ids, EventIds.make(secretOf(environment))),
        webhooks(environment)
      )
    ),
    Layer.provide(Layer.merge(Layer.succeedContext(services), NodeHttpServer.layerHttpServices))
  )
}

/** How many connections are taken. That one was refused is logged, once a minute. */
const refusing = Effect.fnUntraced(function* ({ maxConnections, proxies }: Environment) {
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const mayTell = Throttle.make(Throttle.perMinute(1))
  const whenFull = () => {
    if (mayTell("", Date.now())) run(Effect.logWarning("connections: too many; ended one", { maxConnections }))
  }
  return { maxConnections, isDirect: proxies === 0, whenFull }
})

/** Listens for as long as the scope is open. */
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
    ({ cause }) => Layer.effectContext(new AddressUnusable({ host: environment.host, port: environment.port, cause }))
  )

/** Answers over HTTP for as long as the scope is open, the API and what is `extensions`. */
export const server = <E = never>(
  environment: Environment,
  operatorToken: Redacted.Redacted | undefined,
  services: Context.Context<Services>,
  extensions: ReadonlyArray<Extension.Extension<E, Needs>> = [],
  links?: SignInLinks.Links
) =>
  Layer.unwrap(
    Effect.map(Deferred.make<void>(), (closed) => {
      const all = routes(environment, operatorToken, services, { extensions, links, closing: Deferred.await(closed) })
      const time = Context.getOrUndefined(services, Time.Time)
      const running = HttpRouter.serve(all, { disableLogger: true, disableListenLog: true, routerConfig })
      // Requests see the same time as everything else.
      const served = time === undefined ? running : Layer.provide(running, Layer.succeed(Clock.Clock, time.clock))
      // What is built last is closed first: streams end before the server waits for what is not answered yet.
      const closing = Layer.effectDiscard(Effect.addFinalizer(() => Deferred.succeed(closed, undefined)))
      return Layer.provideMerge(closing, Layer.provideMerge(served, listener(environment)))
    })
  )
