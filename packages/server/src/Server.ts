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
import { Effect, Layer, type Redacted, Schema } from "effect"
import { HttpRouter } from "effect/http"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import path from "node:path"
import type { Environment } from "./Environment.ts"
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
    Sandbox.layer({
      seed: environment.sandboxSeed,
      network: environment.network,
      directory: path.join(environment.dataDirectory, "sandbox")
    }),
    FixedRates.layer()
  )

/** Every service and everything below it: what the program needs besides HTTP. */
export const services = (environment: Environment) =>
  Satrail.layer(settingsOf(environment)).pipe(
    // The storage first: it is what knows whether another process lives in the directory, and then nothing there may be touched.
    Layer.provideMerge(Layer.provideMerge(nodes(environment), storage(environment)))
  )

const readiness = Layer.effect(
  Readiness,
  Effect.gen(function* () {
    const records = yield* Records
    const receiver = yield* LightningReceiver
    const chain = yield* ChainSource
    return [
      { name: "store", check: records.company(Id.nil) },
      { name: "node", check: receiver.lookupInvoice("00".repeat(32)) },
      { name: "chain", check: chain.tip }
    ]
  })
)

/** Everything that this server answers to. */
export const api = Api.add(SandboxRoutes.Group)

/** A server that can end: Node keeps a connection that is busy when it closes, and whoever asks without a pause would be served for ever. */
const endingServer = () => {
  const server = createServer()
  const whenAnswered = (_: IncomingMessage, response: ServerResponse) =>
    void response.once("close", () => server.listening || server.closeIdleConnections())
  return server.on("request", whenAnswered).on("checkContinue", whenAnswered)
}

/** Answers over HTTP for as long as the scope is open. The workers start with it and stop after the last answer. */
export const server = (environment: Environment, operatorToken: Redacted.Redacted) => {
  const routes = Http.layerOf(api, { corsOrigins: environment.corsOrigins, maxBodyBytes: environment.maxBodyBytes }).pipe(
    Layer.provide(Layer.merge(Http.layerHandlers, SandboxRoutes.layer)),
    Layer.provide(Http.layerMiddlewares),
    Layer.provide(Layer.merge(readiness, Layer.succeed(OperatorToken, operatorToken)))
  )
  return HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provideMerge(
      Layer.catchTag(
        NodeHttpServer.layer(endingServer, {
          port: environment.port,
          host: environment.host,
          gracefulShutdownTimeout: `${environment.shutdownSeconds} seconds`
        }),
        "ServeError",
        ({ cause }) => Layer.effectContext(new AddressUnusable({ host: environment.host, port: environment.port, cause }))
      )
    ),
    Layer.provideMerge(Satrail.layerWorkers)
  )
}
