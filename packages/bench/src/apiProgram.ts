// The service's HTTP side alone, without its workers: what it confirms stays pending, as what pgbench confirms does. The one that sends webhooks can be asked for.
import * as Server from "@satrail/server/serving/Server"
import * as Environment from "@satrail/server/deployment/Environment"
import { Effect, Layer, Redacted, References } from "effect"
import * as Listening from "./Listening.ts"
import * as SigningNode from "./SigningNode.ts"

const program = Effect.gen(function* () {
  const environment = yield* Effect.fromResult(Environment.read(process.env))
  const signing = SigningNode.layer({ seed: environment.sandboxSeed, network: environment.network })
  const nodes = Layer.merge(Server.outside(environment), signing)
  const services = yield* Layer.build(Layer.provideMerge(Server.readiness(Effect.succeed(true)), Server.services(environment, nodes)))
  const listening = yield* Layer.build(Server.server(environment, Redacted.make("nobody is the operator here"), services))
  if (process.env["BENCH_SENDS_WEBHOOKS"] === "yes")
    yield* Layer.build(Layer.provide(Server.webhookWorker(environment), Layer.succeedContext(services)))
  yield* Listening.untilAsked(listening)
}).pipe(Effect.scoped, Effect.provideService(References.TracerEnabled, false))

await Effect.runPromise(program)
process.exit(0)
