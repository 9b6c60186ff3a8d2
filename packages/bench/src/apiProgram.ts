// The service's HTTP server. BENCH_WORKERS selects its workers: "webhooks", "all" or, if it is not set, none.
// Without workers, withdrawals stay pending, as in pgbench. Each message is a range of invoices that the
// service's node then reports as paid.
import * as Environment from "@satrail/server/deployment/Environment"
import * as Server from "@satrail/server/serving/Server"
import { Effect, Layer, Redacted, References, Schema, SubscriptionRef } from "effect"
import * as Listening from "./Listening.ts"
import * as SigningNode from "./SigningNode.ts"

const decode = Schema.decodeUnknownSync(SigningNode.Run)

const program = Effect.gen(function* () {
  const environment = yield* Effect.fromResult(Environment.read(process.env))
  const runs = yield* SubscriptionRef.make<ReadonlyArray<SigningNode.Run>>([])
  process.on("message", (message) => void Effect.runPromise(SubscriptionRef.update(runs, (all) => [...all, decode(message)])))
  const works = process.env["BENCH_WORKERS"]
  const signing = SigningNode.layer(
    { seed: environment.sandboxSeed, network: environment.network },
    works === "all" ? { settlements: SigningNode.settlements(runs) } : {}
  )
  const nodes = Layer.merge(Server.outside(environment), signing)
  const services = yield* Layer.build(Layer.provideMerge(Server.readiness(Effect.succeed(true)), Server.services(environment, nodes)))
  const listening = yield* Layer.build(Server.server(environment, Redacted.make("an operator token that no client has"), services))
  if (works === "webhooks") yield* Layer.build(Layer.provide(Server.featureWorkers(environment), Layer.succeedContext(services)))
  if (works === "all") yield* Layer.build(Layer.provide(Server.workers(environment), Layer.succeedContext(services)))
  yield* Listening.untilAsked(listening)
}).pipe(Effect.scoped, Effect.provideService(References.TracerEnabled, false), Effect.provideService(References.MinimumLogLevel, "Error"))

await Effect.runPromise(program)
process.exit(0)
