import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Events from "@satrail/http/wire/Events"
import * as Extension from "@satrail/http/edge/Extension"
import { Readiness } from "@satrail/http/api/Readiness"
import { Context, Effect, Layer, ManagedRuntime, Redacted, Result, Stream } from "effect"
import { HttpRouter, HttpServer, HttpStaticServer } from "effect/http"
import { once } from "node:events"
import { get, type IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"
import { start } from "../../http/test/Service.ts"
import * as Environment from "../src/deployment/Environment.ts"
import * as Server from "../src/serving/Server.ts"

const service = await start()
afterAll(service.dispose)

const ends = { ticks: 0 }
const ticks = Stream.ensuring(
  Stream.concat(Stream.make({ data: "1" }), Stream.never),
  Effect.sync(() => ends.ticks++)
)
const shop = Extension.make(
  Layer.mergeAll(
    HttpRouter.add("GET", "/shop/events", Events.answer(ticks)),
    HttpStaticServer.layer({ root: import.meta.dirname, prefix: "/shop/files", cacheControl: "public, max-age=60" })
  )
)

/** The service with an extension, on a free port. */
const listening = async () => {
  const environment = Result.getOrThrow(Environment.read({ PORT: "0", SATRAIL_SHUTDOWN_SECONDS: "1" }))
  const services = Context.add(service.context, Readiness, [])
  const runtime = ManagedRuntime.make(Server.server(environment, Redacted.make("token"), services, [shop]))
  const { address } = await runtime.runPromise(HttpServer.HttpServer)
  const port = "port" in address ? address.port : assert.fail("no port")
  const ask = async (path: string) => {
    const [response] = await once(get({ port, path, host: "127.0.0.1" }), "response")
    // The `request` event passes an `IncomingMessage`.
    return response as IncomingMessage
  }
  return { ask, dispose: () => runtime.dispose() }
}

const firstEvent = async (stream: IncomingMessage) => {
  let read = ""
  while (!read.includes("data: 1")) read += String((await once(stream, "data"))[0])
}

describe("an extension of the server", () => {
  it("extension: an extension's pages, files and streams are served beside the API", async () => {
    const { ask, dispose } = await listening()
    const file = await ask("/shop/files/extension.test.ts")
    const { "cache-control": cached, "x-content-type-options": sniffed } = file.headers
    assert.deepStrictEqual([file.statusCode, cached, sniffed], [200, "public, max-age=60", "nosniff"])
    assert.include(await text(file), "files and streams are served beside the API")
    for (const missing of ["/shop/files/nothing", "/shop/files/../Server.ts", "/shop/files/..%2fServer.ts"]) {
      const { statusCode, headers } = await ask(missing)
      assert.deepStrictEqual(
        [statusCode, headers["content-type"], headers["cache-control"]],
        [404, "application/json", "no-store"],
        missing
      )
    }
    assert.strictEqual((await ask("/healthz")).statusCode, 200)
    const stream = await ask("/shop/events")
    await firstEvent(stream)
    stream.destroy()
    await dispose()
    assert.strictEqual(ends.ticks, 1)
  })

  it("extension: a closing server ends an extension's stream cleanly, before the grace period is over", async () => {
    const { ask, dispose } = await listening()
    const stream = await ask("/shop/events")
    await firstEvent(stream)
    const [rest] = await Promise.all([text(stream), dispose()])
    assert.isTrue(stream.complete, rest)
  })
})
