// The service in this process, and `/v1` as one function from a web Request to its Response. Each of the
// other files mounts it in a framework.
import { Policy, Satrail } from "@satrail/service"
import { Authentication, Http, Readiness } from "@satrail/service/http"
import { Storage } from "@satrail/service/postgres"
import { FixedRates, Sandbox } from "@satrail/sandbox"
import { Layer, ManagedRuntime } from "effect"

const settings = { ...Policy.defaults, network: "regtest", domain: "pay.example.com" } as const
const ports = Layer.mergeAll(
  Storage.layerEmbedded(),
  Sandbox.layer({ seed: "mounts", network: "regtest" }),
  FixedRates.layer()
)
const services = Satrail.layerWorkers.pipe(
  Layer.provideMerge(Satrail.layer(settings)),
  Layer.provideMerge(ports)
)

/** Every service, for the application's own code: `payments.runPromise(Invoices.Invoices)`. */
export const payments = ManagedRuntime.make(services)

const mounted = Http.webHandler(
  Http.layer().pipe(
    Layer.provide(Layer.succeedContext(await payments.context())),
    Layer.provide(Layer.succeed(Authentication.OperatorToken, undefined)), // no operator routes over HTTP
    Layer.provide(Layer.succeed(Readiness.Readiness, []))
  )
)

export const handler = (request: Request): Promise<Response> => mounted.handler(request)

/**
 * Call this when the application stops. This waits for requests, lets the workers finish their current step,
 * and closes the store.
 */
export const close = async (): Promise<void> => {
  await mounted.dispose()
  await payments.dispose()
}
