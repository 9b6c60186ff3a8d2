import { assert, describe, it } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { keptCharacters, type Posted } from "@satrail/core/nodes/Poster"
import { Deferred, Effect, Fiber } from "effect"
import type http from "node:http"
import { freePort } from "@satrail/testing/freePort"
import type * as Outbound from "../src/Outbound.ts"
import * as WebhookPoster from "../src/WebhookPoster.ts"
import { serve } from "./Server.ts"

const companyId = CompanyId.make("0190b1f0-0000-7000-8000-000000000001")
const ask = { companyId, headers: () => ({}), body: "{}" }

const posts = (answer: http.RequestListener, totalMillis = 60_000) =>
  Effect.gen(function* () {
    const server = yield* serve(answer)
    const poster = WebhookPoster.make({ allowsLoopback: true, outbound: { totalMillis } })
    return { server, posted: yield* poster.post({ url: `http://127.0.0.1:${server.port}/`, ...ask }) }
  })
const unanswered = (reason: string): Posted => ({ _tag: "Unanswered", reason })
const closed = unanswered("the server closed the connection before its response was complete")

describe("a webhook receiver", () => {
  it.live("webhook: a redirect counts as a response and is not followed", () =>
    Effect.gen(function* () {
      const inside = yield* serve((_, response) => response.end("inside"))
      for (const status of [301, 302, 307, 308]) {
        const { server, posted } = yield* posts((_, response) =>
          response.writeHead(status, { location: `http://127.0.0.1:${inside.port}/` }).end()
        )
        assert.deepStrictEqual(posted, { _tag: "Answered", status, body: "", retryAfter: null })
        assert.deepStrictEqual([server.asked.length, inside.connections()], [1, 0])
      }
    })
  )

  it("webhook: a URL with a user or a password is rejected, and a trusted host's URL is accepted", () => {
    const shop = new URL("http://127.0.0.1:3000")
    const [open, guarded] = [
      WebhookPoster.make({ allowsLoopback: true }),
      WebhookPoster.make({ outbound: { allow: new Map([["shop:3000", shop]]) } })
    ]
    for (const url of [
      "https://user:pw@shop.example/",
      "https://user@shop.example/",
      "https://:pw@shop.example/"
    ])
      for (const { issue } of [open, guarded]) assert.match(issue(url) ?? "", /a user or a password/)
    for (const url of [
      "http://127.0.0.1/",
      "http://127.1:8080/",
      "https://localhost/",
      "http://[::1]/",
      "http://shop.com/hook",
      "https://hooks.example/"
    ])
      assert.deepStrictEqual([open.issue(url), guarded.issue(url) === undefined], [undefined, false], url)
    const elsewhere = [
      "http://169.254.169.254/latest",
      "http://2852039166/",
      "http://10.0.0.1/",
      "https://192.168.1.1/",
      "http://0.0.0.0/"
    ]
    for (const url of [
      ...elsewhere,
      "http://[fe80::1]/",
      "http://[::ffff:a9fe:a9fe]/",
      "http://metadata.internal/",
      "http://router/"
    ])
      for (const { issue } of [open, guarded]) assert.match(issue(url) ?? "", /^must be /, url)
    assert.isUndefined(guarded.issue("http://shop:3000/hook"))
  })

  it.live(
    "webhook: a server that closes the connection before or during its response counts as not having responded",
    () =>
      Effect.gen(function* () {
        const before = yield* posts((request) => request.socket.destroy())
        assert.deepStrictEqual(before.posted, closed)
        const within = yield* posts((_, response) => {
          response.writeHead(200, { "content-length": 100 }).write("half of it", () => response.destroy())
        })
        assert.deepStrictEqual(within.posted, closed)
      })
  )

  it.live(
    "webhook: a server that takes too long before or during its response counts as not having responded",
    () =>
      Effect.gen(function* () {
        const never = yield* posts(() => {}, 300)
        assert.deepStrictEqual(never.posted, unanswered("no response within 0.3 seconds"))
        const { posted } = yield* posts((_, response) => response.writeHead(200).write("half of it"), 300)
        assert.strictEqual(posted._tag, "Unanswered")
      })
  )

  it.live(
    "webhook: without a response, the reason says what failed: the connection, the name, TLS or the time",
    () =>
      Effect.gen(function* () {
        const server = yield* serve((_, response) => response.end())
        const port = yield* Effect.promise(freePort)
        const named = (outbound: Outbound.Options) =>
          WebhookPoster.make({ outbound: { connectMillis: 300, ...outbound } }).post({
            url: "https://shop.satrail.org/",
            ...ask
          })
        const local = (url: string) => WebhookPoster.make({ allowsLoopback: true }).post({ url, ...ask })
        const reasons = yield* Effect.all([
          local(`http://127.0.0.1:${port}/`),
          local(`https://127.0.0.1:${server.port}/`),
          named({ lookup: () => Promise.reject(new Error("no name server")) }),
          named({ lookup: () => Promise.resolve([]) }),
          named({ lookup: () => new Promise(() => {}) })
        ])
        const texts = reasons.map((posted) => (posted._tag === "Unanswered" ? posted.reason : posted._tag))
        const [refused, tls, ...others] = texts
        assert.strictEqual(refused, "connection refused")
        assert.match(tls ?? "", /^TLS failed: .*[(][A-Z_]+[)]$/)
        assert.deepStrictEqual(others, [
          "the host name could not be resolved",
          "not contacted: its host has no public address",
          "no connection within 0.3 seconds"
        ])
        for (const text of texts) assert.notInclude(text, "127.0.0.1")
      })
  )

  it.live("webhook: only the beginning of an endless response is read, without waiting for the rest", () =>
    Effect.gen(function* () {
      const { posted } = yield* posts((_, response) => response.write("x".repeat(5000)))
      assert.deepStrictEqual(posted, {
        _tag: "Answered",
        status: 200,
        body: "x".repeat(keptCharacters),
        retryAfter: null
      })
    })
  )

  it.live(
    "webhook: a company whose receivers are slow does not delay another company's requests to the same host, and those that wait are not signed yet",
    () =>
      Effect.gen(function* () {
        const { most, each } = WebhookPoster.requestsPerHost
        const isFull = yield* Deferred.make<void>()
        let [held, signed] = [0, 0]
        const headers = () => ({ number: String(++signed) })
        const server = yield* serve((request, response) => {
          if (request.url === "/fast") response.end()
          else if (++held === each) Deferred.doneUnsafe(isFull, Effect.void)
        })
        const poster = WebhookPoster.make({ allowsLoopback: true, outbound: { totalMillis: 3_600_000 } })
        const url = `http://127.0.0.1:${server.port}`
        const slow = yield* Effect.forEach(Array.from({ length: most + 1 }), () =>
          Effect.forkChild(poster.post({ ...ask, headers, url: `${url}/slow` }), { startImmediately: true })
        )
        yield* Deferred.await(isFull)
        const other = CompanyId.make("0190b1f0-0000-7000-8000-000000000002")
        assert.propertyVal(
          yield* poster.post({ ...ask, companyId: other, url: `${url}/fast` }),
          "status",
          200
        )
        assert.deepStrictEqual([held, signed], [each, each])
        yield* Fiber.interruptAll(slow)
      })
  )
})
