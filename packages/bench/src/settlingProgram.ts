// The service over HTTP with its workers, on a node that reports the settlements of which messages tell it, as fast as they are taken.
import * as Environment from "@satrail/server/deployment/Environment"
import * as Server from "@satrail/server/serving/Server"
import { Effect, Layer, Redacted, References, Schema, SubscriptionRef } from "effect"
import * as Listening from "./Listening.ts"
import * as Reports from "./Reports.ts"
import * as SigningNode from "./SigningNode.ts"

const decode = Schema.decodeUnknownSync(Reports.Run)

const program = Effect.gen(function* () {
  const environment = yield* Effect.fromResult(Environment.read(process.env))
  const runs = yield* SubscriptionRef.make<ReadonlyArray<Reports.Run>>([])
  process.on("message", (message) => void Effect.runPromise(SubscriptionRef.update(runs, (all) => [...all, decode(message)])))
  const signing = SigningNode.layer(
    { seed: environment.sandboxSeed, network: environment.network },
    { settlements: Reports.settlements(runs) }
  )
  const nodes = Layer.merge(Server.outside(environment), signing)
  const services = yield* Layer.build(Layer.provideMerge(Server.readiness(Effect.succeed(true)), Server.services(environment, nodes)))
  const listening = yield* Layer.build(Server.server(environment, Redacted.make("nobody is the operator here"), services))
  yield* Layer.build(Layer.provide(Server.workers(environment), Layer.succeedContext(services)))
  yield* Listening.untilAsked(listening)
}).pipe(Effect.scoped, Effect.provideService(References.TracerEnabled, false), Effect.provideService(References.MinimumLogLevel, "Error"))

await Effect.runPromise(program)
process.exit(0)
