import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Events from "@satrail/http/wire/Events"
import * as Extension from "@satrail/http/edge/Extension"
import { Readiness } from "@satrail/http/api/Readiness"
import { longestMillis } from "@satrail/testing/Waiting"
import { Context, Deferred, Effect, Layer, ManagedRuntime, Redacted, Result, Stream } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse, HttpStaticServer } from "effect/http"
import { once } from "node:events"
import { get, type IncomingMessage } from "node:http"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { vi } from "vitest"
import { start } from "../../http/test/Service.ts"
import { streamTime } from "../../http/test/StreamTime.ts"
import * as Environment from "../src/deployment/Environment.ts"
import * as Server from "../src/serving/Server.ts"

const service = await start()
afterAll(service.dispose)

const ends = { ticks: 0 }
const begun = { floods: 0 }
const ticks = Stream.ensuring(
  Stream.concat(Stream.make({ data: "1" }), Stream.never),
  Effect.sync(() => ends.ticks++)
)
/** An endless stream whose first chunk is larger than the system's buffers of a connection. */
const flood = HttpServerResponse.stream(
  Stream.suspend(() => {
    begun.floods++
    return Stream.concat(Stream.succeed(new Uint8Array(64 * 1024 * 1024)), Stream.never)
  })
)
const shop = Extension.make(
  Layer.mergeAll(
    HttpRouter.add("GET", "/shop/events", Events.answer(ticks)),
    HttpRouter.add("GET", "/shop/flood", flood),
    HttpStaticServer.layer({
      root: import.meta.dirname,
      prefix: "/shop/files",
      cacheControl: "public, max-age=60"
    })
  ),
  { maxStreams: 1 }
)

/** Reads a body within a short time. */
const form = Extension.make(
  HttpRouter.add("POST", "/form", (request) =>
    Effect.as(Effect.orDie(request.text), HttpServerResponse.empty())
  ),
  { timeoutMillis: 20 }
)

/** The service with two extensions, on a free port. */
const listening = async (around: Layer.Layer<never> = Layer.empty, shutdownSeconds = "1") => {
  const environment = Result.getOrThrow(
    Environment.read({ PORT: "0", SATRAIL_SHUTDOWN_SECONDS: shutdownSeconds })
  )
  const services = Context.add(service.context, Readiness, [])
  const runtime = ManagedRuntime.make(
    Layer.provideMerge(Server.server(environment, Redacted.make("token"), services, [shop, form]), around)
  )
  const { address } = await runtime.runPromise(HttpServer.HttpServer)
  const port = "port" in address ? address.port : assert.fail("no port")
  const ask = async (path: string) => {
    const [response] = await once(get({ port, path, host: "127.0.0.1" }), "response")
    // The `request` event passes an `IncomingMessage`.
    return response as IncomingMessage
  }
  const statusOf = async (path: string) => (await ask(path)).destroy().statusCode
  /** Opens the endless stream without reading it. Returns once the server waits for the reader. */
  const stall = async () => {
    const before = begun.floods
    const socket = connect(port, "127.0.0.1").pause()
    socket.write("GET /shop/flood HTTP/1.1\r\nHost: service\r\n\r\n")
    await vi.waitFor(() => assert.strictEqual(begun.floods, before + 1), patience)
    assert.strictEqual(await statusOf("/shop/flood"), 503)
    return socket
  }
  return { port, ask, statusOf, stall, dispose: () => runtime.dispose() }
}

/** Timeout for a condition to become true. */
const patience = { timeout: longestMillis, interval: 5 }

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

  it("extension: a request whose body does not arrive in time gets a response before its connection is closed", async () => {
    const { port, dispose } = await listening()
    const socket = connect(port, "127.0.0.1")
    socket.write("POST /form HTTP/1.1\r\nHost: service\r\nContent-Length: 10\r\n\r\nname=")
    const answer = await text(socket)
    assert.match(answer, /^HTTP\/1\.1 503 /)
    assert.include(answer, '"code":"timeout"')
    await dispose()
  })

  it("extension: a closing server ends an extension's stream cleanly, before the grace period is over", async () => {
    const { ask, dispose } = await listening()
    const stream = await ask("/shop/events")
    await firstEvent(stream)
    const [rest] = await Promise.all([text(stream), dispose()])
    assert.isTrue(stream.complete, rest)
  })

  it("extension: a stream whose client stops reading ends at its time limit and frees its place", async () => {
    const limit = Deferred.makeUnsafe<void>()
    const { statusOf, stall, dispose } = await listening(streamTime(limit))
    const socket = await stall()
    Deferred.doneUnsafe(limit, Effect.void)
    await vi.waitFor(async () => assert.strictEqual(await statusOf("/shop/flood"), 200), patience)
    socket.destroy()
    await dispose()
  })

  it("extension: a closing server does not wait for a client that stops reading a stream", async () => {
    const { stall, dispose } = await listening(streamTime(Deferred.makeUnsafe()), "600")
    const socket = await stall()
    // The shutdown may take ten minutes.
    assert.isUndefined(await dispose())
    socket.destroy()
  })
})
