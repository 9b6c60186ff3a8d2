// Tests that the wire's contract detects a faulty backend. A backend that treats any error status as the node's
// "not found" refunds payments that are still in flight. The port contracts don't detect it, because they only
// cut the connection.
import { assert, it } from "@effect/vitest"
import { LightningWire } from "@satrail/contracts"
import { Cause, Effect, Exit, Layer } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import * as Peers from "../Peers.ts"

/** Emulates such a backend with a proxy: every error status becomes the node's "not found". */
const gullible = (url: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(async (request, response) => {
        const { method = "GET", url: path = "/" } = request
        const chunks: Array<Uint8Array> = []
        for await (const chunk of request) chunks.push(chunk)
        const body = method === "GET" ? {} : { body: Buffer.concat(chunks) }
        const headers = { macaroon: String(request.headers["macaroon"]), "content-type": "application/json" }
        try {
          const answer = await fetch(new URL(path, url), { method, headers, redirect: "manual", ...body })
          const text = answer.status >= 400 ? '{"code":"not_found","message":""}' : await answer.text()
          response
            .writeHead(answer.status >= 400 ? 404 : answer.status, { "content-type": "application/json" })
            .end(text)
        } catch {
          request.socket.destroy()
        }
      }).listen(0, "127.0.0.1")
      await once(server, "listening")
      const address = server.address()
      return {
        url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
        server
      }
    }),
    ({ server }) => Effect.sync(() => server.close().closeAllConnections())
  )

const wrong = Layer.effect(
  LightningWire.Target,
  Effect.map(LightningWire.Target, ({ url, adapter }) => ({
    url,
    adapter: (url: string, deadlineMillis: number) =>
      Layer.unwrap(Effect.map(gullible(url), ({ url }) => adapter(url, deadlineMillis)))
  }))
).pipe(Layer.provideMerge(Peers.layerWire))

it.live(
  "wire contract: a backend that treats an error status as `not found` fails the contract for every such fault",
  () =>
    Effect.gen(function* () {
      const broken: Array<string> = []
      for (const [title, promise] of Object.entries(LightningWire.promises)) {
        if (!title.startsWith("C2:")) continue
        const exit = yield* Effect.exit(promise)
        if (Exit.isFailure(exit))
          broken.push(/\((\d\d\d)/.exec(title)?.[1] ?? `${title}: ${Cause.pretty(exit.cause)}`)
      }
      assert.deepStrictEqual(broken, ["401", "401", "403", "404", "404", "500", "502", "429"])
    }).pipe(Effect.provide(wrong))
)
