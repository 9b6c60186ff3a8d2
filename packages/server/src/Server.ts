import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ChainSource } from "@satrail/core/ChainSource"
import * as Id from "@satrail/core/Id"
import { LightningReceiver } from "@satrail/core/LightningReceiver"
import * as Policy from "@satrail/core/Policy"
import { Records } from "@satrail/core/Records"
import * as Satrail from "@satrail/core/Satrail"
import { Api } from "@satrail/http/Api"
import { OperatorToken } from "@satrail/http/Authentication"
import { Readiness } from "@satrail/http/Health"
import * as Http from "@satrail/http/Http"
import * as Storage from "@satrail/postgres/Storage"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect, Layer, type Redacted } from "effect"
import { HttpRouter } from "effect/http"
import { createServer } from "node:http"
import path from "node:path"
import type { Environment } from "./Environment.ts"
import * as SandboxRoutes from "./SandboxRoutes.ts"

/** The operator's decisions, as far as the environment makes them. On the sandbox things are looked at more often, since a person is waiting. */
const settingsOf = (environment: Environment): Policy.Settings => ({
  ...Policy.defaults,
  network: environment.network,
  domain: environment.domain,
  maxInvoice: environment.maxInvoice,
  maxWithdrawal: environment.maxWithdrawal,
  trackMillis: { minimum: 100, maximum: 1000 },
  invoicePollMillis: 5000,
  chainPollMillis: 250
})

const storage = (
  environment: Environment
): Layer.Layer<Storage.Storage, Layer.Error<ReturnType<typeof Storage.layer>> | Layer.Error<ReturnType<typeof Storage.layerEmbedded>>> =>
  environment.databaseUrl === undefined
    ? Storage.layerEmbedded({ directory: path.join(environment.dataDirectory, "database") })
    : Storage.layer({ url: environment.databaseUrl, maxConnections: environment.databaseConnections })

const nodes = (environment: Environment) =>
  Layer.merge(
    Sandbox.layer({ seed: environment.sandboxSeed, network: environment.network, directory: path.join(environment.dataDirectory, "sandbox") }),
    FixedRates.layer()
  )

/** Every service and everything below it: what the program needs besides HTTP. */
export const services = (environment: Environment) =>
  Satrail.layer(settingsOf(environment)).pipe(Layer.provideMerge(Layer.merge(storage(environment), nodes(environment))))

const readiness = Layer.effect(Readiness, Effect.gen(function*() {
  const records = yield* Records
  const receiver = yield* LightningReceiver
  const chain = yield* ChainSource
  return [
    { name: "store", check: records.company(Id.nil) },
    { name: "node", check: receiver.lookupInvoice("00".repeat(32)) },
    { name: "chain", check: chain.tip }
  ]
}))

/** Everything that this server answers to. */
export const api = Api.add(SandboxRoutes.Group)

/** Answers over HTTP for as long as the scope is open. The workers start with it and stop after the last answer. */
export const server = (environment: Environment, operatorToken: Redacted.Redacted) => {
  const routes = Http.layerOf(api, { corsOrigins: environment.corsOrigins, maxBodyBytes: environment.maxBodyBytes }).pipe(
    Layer.provide(Layer.merge(Http.layerHandlers, SandboxRoutes.layer)),
    Layer.provide(Http.layerMiddlewares),
    Layer.provide(Layer.merge(readiness, Layer.succeed(OperatorToken, operatorToken)))
  )
  return HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provideMerge(NodeHttpServer.layer(createServer, {
      port: environment.port,
      host: environment.host,
      gracefulShutdownTimeout: `${environment.shutdownSeconds} seconds`
    })),
    Layer.provideMerge(Satrail.layerWorkers)
  )
}
