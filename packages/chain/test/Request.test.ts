import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import * as Request from "../src/Request.ts"

/**
 * A server that responds to the first request of each connection and resets the connection at the second
 * request, as if the server had closed the connection just before.
 */
const server = Effect.acquireRelease(
  Effect.promise(async () => {
    const seen = new Set<Socket>()
    const server = createServer((request, response) => {
      if (seen.has(request.socket)) return request.socket.resetAndDestroy()
      seen.add(request.socket)
      return response.end(`answer ${seen.size}`)
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    // The server listens on TCP, so its address is an AddressInfo.
    const { port } = server.address() as AddressInfo
    return { server, url: `http://127.0.0.1:${port}` }
  }),
  ({ server }) => Effect.sync(() => server.closeAllConnections()).pipe(Effect.andThen(Effect.sync(() => server.close())))
)

it.live("request: a reused connection closed by the server is replaced, and the request is sent again", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const ask = Request.make({ url: (yield* server).url })
      const answers = []
      for (const method of ["GET", "GET", "POST"] as const) answers.push((yield* ask({ method, path: "/", body: "same" })).body.toString())
      assert.deepStrictEqual(answers, ["answer 1", "answer 2", "answer 3"])
    })
  )
)

it.live("request: a new connection that is reset counts as an outage", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const refusing = createServer((request) => request.socket.resetAndDestroy()).listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(refusing, "listening"))
      const { port } = refusing.address() as AddressInfo
      const ask = Request.make({ url: `http://127.0.0.1:${port}` })
      assert.match(String(yield* Effect.flip(ask({ method: "GET", path: "/" }))), /ECONNRESET|socket hang up/)
      refusing.close()
    })
  )
)
