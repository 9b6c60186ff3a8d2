import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { createServer as createSecureServer } from "node:https"
import type { AddressInfo, Socket } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import * as Request from "../src/Request.ts"
import { certificate, key } from "./Certificate.ts"

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
  ({ server }) =>
    Effect.sync(() => server.closeAllConnections()).pipe(Effect.andThen(Effect.sync(() => server.close())))
)

it.live("request: a reused connection closed by the server is replaced, and the request is sent again", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const ask = Request.make({ url: (yield* server).url })
      const answers = []
      for (const method of ["GET", "GET", "POST"] as const)
        answers.push((yield* ask({ method, path: "/", body: "same" })).body.toString())
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

it.live("request: a renewed certificate is read from its file, without a restart", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(path.join(tmpdir(), "satrail-certificate-"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
      )
      const secure = createSecureServer({ key, cert: certificate }, (_, response) =>
        response.end("answer")
      ).listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(secure, "listening"))
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          secure.closeAllConnections()
          secure.close()
        })
      )
      const { port } = secure.address() as AddressInfo
      const certificateFile = path.join(folder, "tls.cert")
      writeFileSync(certificateFile, "")
      const ask = Request.make({ url: `https://127.0.0.1:${port}`, certificateFile })({
        method: "GET",
        path: "/"
      })
      assert.match(String(yield* Effect.flip(ask)), /certificate/)
      writeFileSync(certificateFile, certificate)
      assert.strictEqual((yield* ask).body.toString(), "answer")
    })
  )
)

it.effect(
  "request: a response may arrive slowly, but one that is incomplete after 5 minutes counts as an outage",
  () =>
    Effect.scoped(
      Effect.gen(function* () {
        const dripping = createServer((_, response) => {
          const drip = setInterval(() => response.write("."), 5)
          response.on("close", () => clearInterval(drip))
        }).listen(0, "127.0.0.1")
        yield* Effect.promise(() => once(dripping, "listening"))
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            dripping.closeAllConnections()
            dripping.close()
          })
        )
        const { port } = dripping.address() as AddressInfo
        const asked = once(dripping, "request")
        const ask = Request.make({ url: `http://127.0.0.1:${port}`, patienceMillis: 4000 })
        const asking = yield* Effect.forkChild(Effect.flip(ask({ method: "GET", path: "/" })))
        yield* Effect.promise(() => asked)
        yield* TestClock.adjust("299 seconds")
        assert.isUndefined(asking.pollUnsafe())
        yield* TestClock.adjust("1 second")
        assert.match(String(yield* Fiber.join(asking)), /no complete response within 300000 ms/)
      })
    )
)
