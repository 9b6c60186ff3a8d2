// Measures the cost of Effect's HttpApi per request, without the service. A single route runs behind the
// service's own listener. A schema encodes its response, which is as long as the service's response.
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Listener from "@satrail/server/serving/Listener"
import { Effect, Layer, References, Schema } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import * as Listening from "./Listening.ts"

const answer = { status: 200, message: "Balance", data: { balance: 21_000_000 } }
const Answer = Schema.Struct({
  status: Schema.Int,
  message: Schema.String,
  data: Schema.Struct({ balance: Schema.Int })
})
const api = HttpApi.make("bare").add(
  HttpApiGroup.make("transactions").add(
    HttpApiEndpoint.get("balance", "/v1/transactions/balance", { success: Answer })
  )
)
const handlers = HttpApiBuilder.group(api, "transactions", (group) =>
  group.handle("balance", () => Effect.succeed(answer))
)
const routes = Layer.provide(
  HttpApiBuilder.layer(api),
  Layer.merge(handlers, NodeHttpServer.layerHttpServices)
)

const program = Effect.gen(function* () {
  const served = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true })
  const listener = NodeHttpServer.layerServer(() => Listener.make(), { port: 0, host: "127.0.0.1" })
  const listening = yield* Layer.build(Layer.provideMerge(served, listener))
  yield* Listening.untilAsked(listening)
}).pipe(Effect.scoped, Effect.provideService(References.TracerEnabled, false))

await Effect.runPromise(program)
process.exit(0)
