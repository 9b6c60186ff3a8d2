// The service's HTTP server. It runs no workers, so withdrawals stay pending. BENCH_WORKERS=features starts those that send webhooks.
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import * as Receiver from "@satrail/sandbox/Receiver"
import * as Time from "@satrail/sandbox/Time"
import * as World from "@satrail/sandbox/World"
import * as Environment from "@satrail/server/deployment/Environment"
import * as Simulated from "@satrail/server/deployment/Simulated"
import * as ReadinessChecks from "@satrail/server/serving/ReadinessChecks"
import * as Server from "@satrail/server/serving/Server"
import { Clock, Context, Effect, Layer, Redacted, References } from "effect"
import * as Listening from "./Listening.ts"

/** A world that makes decisions as usual, but does not store them. */
const forgetful = (world: World.World): World.World => ({
  ...world,
  commit: (decide) =>
    Effect.flatMap(Clock.currentTimeMillis, (nowMillis) =>
      Effect.map(Effect.fromResult(decide(world.state(), nowMillis)), ({ answer }) => answer(world.state()))
    )
})

const program = Effect.gen(function* () {
  const environment = yield* Effect.fromResult(Environment.read(process.env))
  const { sandboxSeed: seed, network } = environment
  // The sandbox's node, but without its list of invoices, which would grow in the measured process. (A real node
  // keeps that list in its own process.)
  const receiver = Effect.map(World.make({ seed, network }), (world) => Receiver.make(forgetful(world)))
  const nodes = Layer.merge(Server.outside(environment), Layer.effect(LightningReceiver, receiver))
  const built = yield* Layer.build(
    Layer.provideMerge(
      ReadinessChecks.readiness(Simulated.of(environment), Effect.succeed(true)),
      Server.services(environment, nodes)
    )
  )
  // A service on a real network has no clock that can be advanced.
  const services = Context.omit(Time.Time)(built)
  const listening = yield* Layer.build(
    Server.server(environment, Redacted.make("an operator token that no client has"), services)
  )
  if (process.env["BENCH_WORKERS"] === "features")
    yield* Layer.build(Layer.provide(Server.featureWorkers(environment), Layer.succeedContext(services)))
  yield* Listening.untilAsked(listening)
}).pipe(
  Effect.scoped,
  Effect.provideService(References.TracerEnabled, false),
  Effect.provideService(References.MinimumLogLevel, "Error")
)

await Effect.runPromise(program)
process.exit(0)
