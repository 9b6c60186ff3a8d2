import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Metric, Redacted, References, Schema, Stream } from "effect"
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import * as LndRest from "../src/LndRest.ts"
import * as NodeState from "../src/NodeState.ts"

const isUp = Effect.map(Metric.value(NodeState.up("lnd")), ({ value }) => value)
const Anything = Schema.Struct({ n: Schema.Int })

it.live(
  "lnd: after a macaroon is revoked, the node counts as down although a stream that began before goes on",
  () =>
    Effect.gen(function* () {
      const stream = Promise.withResolvers<ServerResponse>()
      const server = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const server = createServer((request, response) => {
            if (request.url === "/stream") return stream.resolve(response.writeHead(200))
            const message = "cannot retrieve macaroon: cannot get macaroon: root key with id 2 doesn't exist"
            return response.writeHead(500).end(JSON.stringify({ code: 2, message, details: [] }))
          }).listen(0, "127.0.0.1")
          await once(server, "listening")
          return server
        }),
        (server) => Effect.sync(() => server.close().closeAllConnections())
      )
      const address = server.address()
      const url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
      const rest = LndRest.make({
        url,
        macaroon: Redacted.make("00"),
        names: { url: "U", certificateFile: "C", macaroon: "M" }
      })

      const heard = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const fiber = yield* rest.listen("track", LndRest.get("/stream"), Anything).pipe(
        Stream.runForEach(({ n }) => Deferred.succeed(heard[n] ?? assert.fail(`message ${n}`), undefined)),
        Effect.forkChild
      )
      const say = (n: number) =>
        Effect.promise(async () =>
          (await stream.promise).write(`${JSON.stringify({ result: { n } })}\n`)
        ).pipe(Effect.andThen(Deferred.await(heard[n] ?? assert.fail(`message ${n}`))))
      yield* say(0)
      assert.strictEqual(yield* isUp, 1)
      yield* Effect.flip(rest.ask("pay", LndRest.get("/pay"), Anything))
      assert.strictEqual(yield* isUp, 0)
      yield* say(1)
      assert.strictEqual(yield* isUp, 0, "after the stream's second message")
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
)
