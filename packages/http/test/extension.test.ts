import { afterAll, assert, describe, it } from "@effect/vitest"
import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import { longestMillis } from "@satrail/testing/Waiting"
import { Deferred, Effect, Layer, Stream, Tracer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { vi } from "vitest"
import * as Events from "../src/wire/Events.ts"
import * as Extension from "../src/edge/Extension.ts"
import { bad, seen, start } from "./Service.ts"
import { streamTime } from "./StreamTime.ts"

/**
 * Activity in the extension's routes: streams opened, streams ended, requests begun, requests interrupted, and
 * spans.
 */
const world = { open: 0, ended: 0, begun: 0, interrupted: 0, spans: new Array<Tracer.NativeSpan>() }

const watched = <A>(stream: Stream.Stream<A>) =>
  Stream.suspend(() => {
    world.open++
    return Stream.ensuring(
      stream,
      Effect.sync(() => world.ended++)
    )
  })

/** Timeout for a condition to become true. */
const patience = { timeout: longestMillis, interval: 5 }

const html = "text/html; charset=utf-8"
const page = HttpServerResponse.text("<!doctype html><p>Pay here", { contentType: html })
const ticks = Events.answer(
  watched(
    Stream.concat(Stream.make({ data: "1", id: "a\nb" }, { event: "paid", data: "2\n3" }), Stream.never)
  )
)
const file = HttpServerResponse.stream(
  Stream.concat(Stream.encodeText(Stream.succeed("a,b\r\n")), Stream.never),
  {
    contentType: "text/csv",
    headers: { "content-disposition": "attachment" }
  }
)
const hanging = Effect.onInterrupt(
  Effect.suspend(() => {
    world.begun++
    return Effect.never
  }),
  () => Effect.sync(() => world.interrupted++)
)

const orders = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
  Effect.map(Effect.orDie(request.text), (text) => HttpServerResponse.text(String(text.length)))
)

const shop = Extension.make(
  Layer.mergeAll(
    HttpRouter.add("GET", "/shop", page),
    HttpRouter.add("GET", "/shop/events", ticks),
    HttpRouter.add("GET", "/shop/file", file),
    HttpRouter.add("GET", "/shop/hangs", hanging),
    HttpRouter.add("GET", "/shop/breaks", Effect.die("a secret of the inside")),
    HttpRouter.add(
      "GET",
      "/shop/sold-out",
      HttpServerResponse.text("<p>Sold out", { status: 410, contentType: html })
    ),
    HttpRouter.add(
      "GET",
      "/shop/style.css",
      HttpServerResponse.text("p{}", { headers: { "cache-control": "public, max-age=60" } })
    ),
    // Routes under a prefix, as a package might define them.
    HttpRouter.use((router) => router.prefixed("/shop").add("POST", "/orders", orders))
  ),
  {
    timeoutMillis: 300,
    maxStreams: 2,
    maxBodyBytes: 100,
    headers: { "content-security-policy": "default-src 'self'" }
  }
)

/** Routes with their own middleware, which requires an API key. */
const closed = Extension.make(
  Layer.provide(
    HttpRouter.add("GET", "/till/:name", HttpServerResponse.text("inside")),
    HttpRouter.middleware(
      Effect.map(
        ApiKeys,
        ({ check }) =>
          (page) =>
            Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
              Effect.matchEffect(check(headers["x-till"] ?? ""), {
                onFailure: () => Effect.succeed(HttpServerResponse.text("outside", { status: 401 })),
                onSuccess: () => page
              })
            )
      )
    ).layer
  ),
  { cors: "any" }
)

const closing = Deferred.makeUnsafe<void>()
const tracer = Tracer.make({
  span: (options) => {
    const span = new Tracer.NativeSpan(options)
    world.spans.push(span)
    return span
  }
})
const service = await start({
  http: {
    extensions: [shop, closed],
    closing: Deferred.await(closing),
    corsOrigins: ["https://shop.example"]
  },
  around: Layer.succeed(Tracer.Tracer, tracer)
})
afterAll(service.dispose)

const stream = async (signal?: AbortSignal) => {
  const response = await service.handler(
    new Request("http://service/shop/events", signal === undefined ? {} : { signal })
  )
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  return { response, reader }
}
type Reader = Awaited<ReturnType<typeof stream>>["reader"]

/** Reads until the text contains `until`, or to the end. */
const read = async (reader: Reader, until?: string): Promise<string> => {
  let text = ""
  for (;;) {
    const { done = true, value = "" } = (await reader?.read()) ?? {}
    text += value
    if (done || (until !== undefined && text.includes(until))) return text
  }
}

describe("an extension", () => {
  it("extension: an extension's page has its own content policy and the service's headers, and is not cached", async () => {
    const { status, headers, text } = await service.ask("GET", "/shop")
    assert.deepStrictEqual([status, text], [200, "<!doctype html><p>Pay here"])
    const expected = {
      "content-type": html,
      "content-security-policy": "default-src 'self'",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      vary: "Origin"
    }
    for (const [name, value] of Object.entries(expected)) assert.strictEqual(headers.get(name), value, name)
    assert.strictEqual(
      (await service.ask("GET", "/shop/style.css")).headers.get("cache-control"),
      "public, max-age=60"
    )
  })

  it("extension: if an extension's page sets no headers, the default policy prevents loading and framing", async () => {
    const { headers } = await service.ask("GET", "/till/1")
    assert.include(headers.get("content-security-policy") ?? "", "default-src 'none'")
    assert.include(headers.get("content-security-policy") ?? "", "frame-ancestors 'none'")
    assert.strictEqual(headers.get("referrer-policy"), "no-referrer")
  })

  it("extension: an extension's middleware guards only its own routes", async () => {
    const { key } = await service.company()
    assert.deepStrictEqual(await service.ask("GET", "/till/1").then(({ status, text }) => [status, text]), [
      401,
      "outside"
    ])
    assert.strictEqual((await service.ask("GET", "/till/1", { headers: { "x-till": key } })).text, "inside")
    assert.strictEqual((await service.ask("GET", "/v1/transactions/balance", { key })).status, 200)
  })

  it("extension: wrong methods, OPTIONS and CORS are handled as in the API, within the extension's policy", async () => {
    const wrong = await service.ask("POST", "/shop", { body: {} })
    assert.deepStrictEqual(seen(wrong), bad(405, "method_not_allowed"))
    assert.strictEqual(wrong.headers.get("allow"), "GET, HEAD, OPTIONS")
    const origin = { origin: "https://elsewhere.example" }
    const listed = await service.ask("OPTIONS", "/shop/orders", { headers: origin })
    assert.deepStrictEqual(
      [listed.body.data.methods, listed.headers.get("access-control-allow-origin")],
      [["OPTIONS", "POST"], null]
    )
    for (const method of ["OPTIONS", "GET", "DELETE"])
      assert.strictEqual(
        (await service.ask(method, "/till/1", { headers: origin })).headers.get(
          "access-control-allow-origin"
        ),
        "*",
        method
      )
    assert.deepStrictEqual(seen(await service.ask("GET", "/shop/%73tyle.css")), bad(404, "not_found"))
  })

  it("extension: an extension's error page is unchanged, and a crash returns an envelope without details", async () => {
    const { status, headers, text } = await service.ask("GET", "/shop/sold-out")
    assert.deepStrictEqual([status, headers.get("content-type"), text], [410, html, "<p>Sold out"])
    const crashed = await service.ask("GET", "/shop/breaks")
    assert.deepStrictEqual(seen(crashed), bad(500, "internal"))
    assert.notInclude(crashed.text, "secret of the inside")
    assert.include(service.logged.join(), "secret of the inside")
  })

  it("extension: an extension's policy limits the body size and the duration of every request, including reads", async () => {
    const sent = (length: number) => service.ask("POST", "/shop/orders", { body: "x".repeat(length) })
    assert.strictEqual((await sent(100)).text, "100")
    assert.deepStrictEqual(seen(await sent(101)), bad(413, "body_too_large"))
    const before = world.interrupted
    const late = await service.ask("GET", "/shop/hangs")
    assert.deepStrictEqual(
      [...Object.values(seen(late)), late.headers.get("retry-after")],
      [...Object.values(bad(503, "timeout")), "1"]
    )
    await vi.waitFor(() => assert.strictEqual(world.interrupted, before + 1), patience)
  })

  it("extension: the work for a request ends when its client disconnects", async () => {
    const [{ begun, interrupted }, leaving] = [{ ...world }, new AbortController()]
    const answer = service.handler(new Request("http://service/shop/hangs", { signal: leaving.signal }))
    await vi.waitFor(() => assert.strictEqual(world.begun, begun + 1), patience)
    leaving.abort()
    assert.strictEqual((await answer).status, 499)
    await vi.waitFor(() => assert.strictEqual(world.interrupted, interrupted + 1), patience)
  })

  it("extension: an extension's global middleware applies only to its own routes", async () => {
    const stamped = HttpRouter.middleware(
      (http) => Effect.map(http, HttpServerResponse.setHeader("x-stamp", "yes")),
      { global: true }
    )
    const routes = Layer.mergeAll(HttpRouter.add("GET", "/stamped", page), stamped)
    const { ask, dispose } = await start({ http: { extensions: [Extension.make(routes)] } })
    assert.deepStrictEqual(
      [
        (await ask("GET", "/stamped")).headers.get("x-stamp"),
        (await ask("GET", "/healthz")).headers.get("x-stamp")
      ],
      ["yes", null]
    )
    await dispose()
  })

  it("extension: the service does not start if a path is already served, and the error names the path", async () => {
    const { ask } = await start({
      http: { extensions: [Extension.make(HttpRouter.add("GET", "/healthz", page))] }
    })
    const failure = await ask("GET", "/").then(() => "", String)
    assert.include(failure, "/healthz")
  })

  it("extension: an extension's requests are traced like API requests", async () => {
    world.spans.length = 0
    await service.ask("GET", "/shop")
    await service.ask("GET", "/healthz")
    const routes = world.spans.map(({ name, attributes }) => [
      name,
      attributes.get("http.route"),
      attributes.get("http.response.status_code")
    ])
    assert.deepStrictEqual(routes, [
      ["GET", "/shop", 200],
      ["GET", "/healthz", 200]
    ])
  })
})

describe("a stream", () => {
  it("stream: events arrive unchanged, in a response that is not cached or buffered", async () => {
    const { response, reader } = await stream()
    const expected = {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no"
    }
    for (const [name, value] of Object.entries(expected))
      assert.strictEqual(response.headers.get(name), value)
    const text = await read(reader, "data: 3\n\n")
    for (const part of [":\n\n", "id: a b\ndata: 1\n\n", "event: paid\ndata: 2\ndata: 3\n\n"])
      assert.include(text, part)
    await reader?.cancel()
  })

  it("stream: an extension's stream ends when its client disconnects", async () => {
    const [before, controller] = [world.ended, new AbortController()]
    const { reader } = await stream(controller.signal)
    await read(reader, "data: 1")
    controller.abort()
    await vi.waitFor(() => assert.strictEqual(world.ended, before + 1), patience)
  })

  it("stream: concurrent streams are limited until one ends", async () => {
    const open = [await stream(), await stream()]
    for (const { response } of open) assert.strictEqual(response.status, 200)
    const { status, body } = await service.ask("GET", "/shop/events")
    assert.deepStrictEqual([status, body.error?.code], [503, "overloaded"])
    assert.strictEqual((await service.ask("GET", "/shop")).status, 200)
    await open[0]?.reader?.cancel()
    await vi.waitFor(async () => {
      const again = await stream()
      await again.reader?.cancel()
      assert.strictEqual(again.response.status, 200)
    }, patience)
    await open[1]?.reader?.cancel()
  })

  it("stream: an event stream that lasts too long ends properly", async () => {
    const brief = await start({
      http: { extensions: [{ ...shop, policy: { ...shop.policy, maxStreamMillis: 50 } }] }
    })
    const response = await brief.handler(new Request("http://service/shop/events"))
    assert.include(await response.text(), "data: 1")
    await brief.dispose()
  })

  it("stream: a file download that takes too long is aborted, so that clients do not treat the file as complete", async () => {
    const brief = await start({
      http: { extensions: [{ ...shop, policy: { ...shop.policy, maxStreamMillis: 50 } }] }
    })
    const response = await brief.handler(new Request("http://service/shop/file"))
    assert.strictEqual(response.status, 200)
    const ended = await response.text().then(
      () => "whole",
      () => "broken off"
    )
    assert.strictEqual(ended, "broken off")
    await brief.dispose()
  })

  it("stream: a stream whose web response is never read ends after its time limit, and releases its slot", async () => {
    const [limit, opened] = [Deferred.makeUnsafe<void>(), { ended: 0 }]
    const pages = Stream.ensuring(
      Stream.forever(Stream.succeed(new Uint8Array(1000))),
      Effect.sync(() => opened.ended++)
    )
    const unread = HttpServerResponse.stream(pages, {
      contentType: "text/csv",
      headers: { "content-disposition": "attachment" }
    })
    const one = Extension.make(HttpRouter.add("GET", "/shop/unread", unread), { maxStreams: 1 })
    const { handler, dispose } = await start({ http: { extensions: [one] }, around: streamTime(limit) })
    const ask = () => handler(new Request("http://service/shop/unread"))
    const response = await ask()
    assert.strictEqual((await ask()).status, 503)
    Deferred.doneUnsafe(limit, Effect.void)
    await vi.waitFor(() => assert.strictEqual(opened.ended, 1), patience)
    const message = await response.text().then(
      () => assert.fail("the file is not complete"),
      (error: Error) => error.message
    )
    assert.include(message, "cut short")
    assert.strictEqual((await ask()).status, 200)
    await dispose()
  })

  it("stream: a HEAD request does not open a stream", async () => {
    const before = world.open
    const { status, text } = await service.ask("HEAD", "/shop/events")
    assert.deepStrictEqual([status, text, world.open], [200, "", before])
    for (let i = 0; i < 3; i++) assert.strictEqual((await service.ask("HEAD", "/shop/events")).status, 200)
  })

  it("stream: when the server closes, all streams end properly, and a new stream ends immediately", async () => {
    const { reader } = await stream()
    await read(reader, "data: 1")
    Deferred.doneUnsafe(closing, Effect.void)
    await read(reader)
    const { reader: another } = await stream()
    await read(another)
    assert.strictEqual((await service.ask("GET", "/healthz")).status, 200)
  })
})
