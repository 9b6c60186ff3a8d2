// The service's HTTP side alone, without its workers: what it confirms stays pending, as what pgbench confirms does. The one that sends webhooks can be asked for.
import * as Server from "@satrail/server/Server"
import * as Environment from "@satrail/server/Environment"
import { Context, Effect, Layer, Redacted, References } from "effect"
import { HttpServer } from "effect/http"
import * as SigningNode from "./SigningNode.ts"

const program = Effect.gen(function* () {
  const environment = yield* Effect.fromResult(Environment.read(process.env))
  const signing = SigningNode.layer({ seed: environment.sandboxSeed, network: environment.network })
  const nodes = Layer.merge(Server.outside(environment), signing)
  const services = yield* Layer.build(Layer.provideMerge(Server.readiness(Effect.succeed(true)), Server.services(environment, nodes)))
  const listening = yield* Layer.build(Server.server(environment, Redacted.make("nobody is the operator here"), services))
  if (process.env["BENCH_SENDS_WEBHOOKS"] === "yes")
    yield* Layer.build(Layer.provide(Server.webhookWorker(environment), Layer.succeedContext(services)))
  const { address } = Context.get(listening, HttpServer.HttpServer)
  yield* Effect.sync(() => process.send?.({ port: "port" in address ? address.port : 0 }))
  yield* Effect.callback<void>((resume) => {
    process.once("SIGTERM", () => resume(Effect.void))
  })
}).pipe(Effect.scoped, Effect.provideService(References.TracerEnabled, false))

await Effect.runPromise(program)
process.exit(0)
