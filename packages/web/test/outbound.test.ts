import { assert, describe, it } from "@effect/vitest"
import { boundPort } from "@satrail/testing/boundPort"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type http from "node:http"
import net, { type Socket } from "node:net"
import * as Idle from "../src/Idle.ts"
import * as Lnurl from "../src/Lnurl.ts"
import * as Outbound from "../src/Outbound.ts"
import * as Dripping from "./Dripping.ts"
import { counting, doubting, serve, type Server, trusting } from "./Server.ts"

const isAllowed = (address: string) => address === "127.0.0.2"

/** Resolves each name to the results listed for its first, second and later lookups. The last result repeats. */
const names = (table: Readonly<Record<string, ReadonlyArray<ReadonlyArray<string>>>>) => {
  const asked: Array<string> = []
  const lookup = async (name: string) => {
    const times = asked.filter((one) => one === name).length
    asked.push(name)
    const answers = table[name]
    return answers?.[Math.min(times, answers.length - 1)] ?? []
  }
  return { asked, lookup }
}

const outside = { "page.example.com": [["127.0.0.2"]] }
const hello: http.RequestListener = (_, response) => response.end("hello")

interface Page extends Outbound.Options {
  readonly answer?: http.RequestListener
  readonly resolves?: Parameters<typeof names>[0]
}

/** A server on the Internet with a trusted certificate, and requests to it by its name. */
const page = Effect.fnUntraced(function* ({ answer = hello, resolves = outside, ...options }: Page = {}) {
  yield* trusting
  const server = yield* serve(answer, { host: "127.0.0.2", isSecure: true })
  const { asked, lookup } = names(resolves)
  return {
    server,
    asked,
    url: `https://page.example.com:${server.port}/`,
    ...Outbound.make({ isAllowed, lookup, ...options })
  }
})

/** An internal server at the port of a server on the Internet. */
const internal = ({ port }: Server) => serve(hello, { host: "127.0.0.3", port, isSecure: true })

const elapsed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const begun = performance.now()
    return Effect.map(effect, (value) => ({ value, millis: performance.now() - begun }))
  })

describe("Outbound", () => {
  it.live("outbound: requests use TLS and the host name, and send only the required headers", () =>
    Effect.gen(function* () {
      const { server, ask, url } = yield* page()
      assert.deepStrictEqual(yield* ask({ url: `${url}a/b?c=%20d` }), { status: 200, body: "hello" })
      const [request] = server.asked
      assert.strictEqual(request?.url, "/a/b?c=%20d")
      assert.deepStrictEqual(request?.headers, {
        host: `page.example.com:${server.port}`,
        "user-agent": "satrail",
        connection: "close"
      })
    })
  )

  it.live("outbound: a body is posted with the given headers", () =>
    Effect.gen(function* () {
      const { server, ask, url } = yield* page({
        answer: (request, response) => {
          response.writeHead(202)
          request.pipe(response)
        }
      })
      const answer = yield* ask({
        url,
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"a":"ä"}'
      })
      assert.deepStrictEqual(answer, { status: 202, body: '{"a":"ä"}' })
      assert.strictEqual(server.asked[0]?.headers["content-type"], "application/json")
    })
  )

  it.live(
    "outbound: a kept connection is reused for sequential requests, and concurrent requests each have their own connection",
    () =>
      Effect.gen(function* () {
        const { server, ask, asked, url } = yield* page({ keepsConnections: true })
        for (let i = 0; i < 30; i++)
          assert.deepStrictEqual(yield* ask({ url, method: "POST", body: "{}", firstBytes: 100 }), {
            status: 200,
            body: "hello"
          })
        assert.deepStrictEqual([server.connections(), asked.length, server.asked.length], [1, 1, 30])
        assert.strictEqual(server.asked[0]?.headers.connection, "keep-alive")
        yield* Effect.forEach([1, 2, 3], () => ask({ url }), { concurrency: "unbounded" })
        assert.strictEqual(server.connections(), 3, "concurrent requests each have their own connection")
      })
  )

  it.effect("C51: outbound: a kept connection goes to an address checked at most a minute ago", () =>
    Effect.gen(function* () {
      const { server, ask, url } = yield* page({
        resolves: { "page.example.com": [["127.0.0.2"], ["127.0.0.3"]] },
        keepsConnections: true
      })
      const inside = yield* internal(server)
      yield* ask({ url })
      yield* TestClock.adjust(Idle.maxAgeMillis - 1)
      yield* ask({ url })
      assert.strictEqual(server.connections(), 1)
      yield* TestClock.adjust(1)
      const error = yield* Effect.flip(ask({ url }))
      assert.deepStrictEqual([error._tag, server.connections(), inside.connections()], ["Forbidden", 1, 0])
    })
  )

  it.live("C51: outbound: a kept connection is reused only for its own host name", () =>
    Effect.gen(function* () {
      const { server, ask, url } = yield* page({
        resolves: { ...outside, "inside.example.com": [["127.0.0.1"]] },
        keepsConnections: true
      })
      yield* ask({ url })
      const error = yield* Effect.flip(ask({ url: `https://inside.example.com:${server.port}/` }))
      assert.deepStrictEqual([error._tag, server.connections(), server.asked.length], ["Forbidden", 1, 1])
    })
  )

  it.live("outbound: a request is retried on a new connection if the server closes the kept connection", () =>
    Effect.gen(function* () {
      const sockets = new Set<Socket>()
      const server = yield* serve((request, response) => {
        sockets.add(request.socket)
        // The server closes the connection when it receives a second request on it.
        if (sockets.size === 1 && server.asked.length === 2) return request.socket.destroy()
        return response.end("hello")
      })
      const { ask } = Outbound.make({ allowsLoopback: true, keepsConnections: true })
      const url = `http://127.0.0.1:${server.port}/`
      for (let i = 0; i < 3; i++)
        assert.strictEqual((yield* ask({ url, method: "POST", body: "{}" })).body, "hello")
      assert.deepStrictEqual([server.connections(), server.asked.length], [2, 4])
    })
  )

  it.live("C49: outbound: other protocols also connect only to the checked address", () =>
    Effect.gen(function* () {
      const { server, connect } = yield* page()
      const socket = yield* Effect.scoped(
        Effect.tap(connect(`wss://page.example.com:${server.port}/relay`), (socket) =>
          Effect.sync(() => assert.strictEqual(socket.remoteAddress, "127.0.0.2"))
        )
      )
      assert.isTrue(socket.destroyed, "closed with its scope")
      const error = yield* Effect.flip(Effect.scoped(connect("wss://127.0.0.1/relay")))
      assert.strictEqual(error._tag, "Forbidden")
      const inside = yield* internal(server)
      const led = Outbound.make({ isAllowed, lookup: names({ "page.example.com": [["127.0.0.3"]] }).lookup })
      const refused = yield* Effect.flip(
        Effect.scoped(led.connect(`wss://page.example.com:${server.port}/relay`))
      )
      assert.deepStrictEqual([refused._tag, inside.connections()], ["Forbidden", 0])
    })
  )

  it.live(
    "C51: outbound: a name that changes between check and connection still resolves to the checked address",
    () =>
      Effect.gen(function* () {
        const { server, ask, asked, url } = yield* page({
          resolves: { "page.example.com": [["127.0.0.2"], ["127.0.0.3"]] }
        })
        const inside = yield* internal(server)
        assert.strictEqual((yield* ask({ url })).body, "hello")
        assert.deepStrictEqual(asked, ["page.example.com"], "it was looked up once")
        // From now on the name resolves to an internal address, so the request is refused.
        const { value, begun } = yield* counting(Effect.flip(ask({ url })))
        assert.deepStrictEqual([value._tag, begun, inside.connections()], ["Forbidden", 0, 0])
      })
  )

  it.live("C48: outbound: of several addresses, only the allowed ones are tried", () =>
    Effect.gen(function* () {
      const { server, ask, url } = yield* page({
        resolves: { "page.example.com": [["127.0.0.3", "127.0.0.2", "::1"]] }
      })
      const inside = yield* internal(server)
      assert.strictEqual((yield* ask({ url })).status, 200)
      assert.strictEqual(inside.connections(), 0)
    })
  )

  it.live(
    "outbound: a certificate that is untrusted or for another name counts as an outage, with its reason",
    () =>
      Effect.gen(function* () {
        const { server, ask, url } = yield* page({
          resolves: { ...outside, "page.example.org": [["127.0.0.2"]] },
          connectMillis: 200
        })
        const outageOf = (url: string) =>
          Effect.map(Effect.flip(ask({ url })), (error) => [error._tag, error.reason])
        yield* doubting
        assert.deepStrictEqual(yield* outageOf(url), [
          "Unreachable",
          "TLS failed: the certificate is self-signed"
        ])
        yield* trusting
        assert.deepStrictEqual(yield* outageOf(`https://page.example.org:${server.port}/`), [
          "Unreachable",
          "TLS failed: the certificate is for another host name"
        ])
        assert.strictEqual(server.asked.length, 0)
        assert.strictEqual((yield* ask({ url })).status, 200)
      })
  )

  it.live(
    "outbound: connecting to an unreachable host fails after the same time and with the same message, whatever the cause",
    () =>
      Effect.gen(function* () {
        const connectMillis = 400
        const plain = yield* serve(hello, { host: "127.0.0.2" }) // responds, but without TLS
        const silent = yield* Effect.acquireRelease(
          Effect.sync(() => net.createServer().listen(0, "127.0.0.2")),
          (server) => Effect.sync(() => server.close())
        )
        const closed = yield* Effect.scoped(
          Effect.map(serve(hello, { host: "127.0.0.2" }), ({ port }) => port)
        )
        const { ask } = Outbound.make({ isAllowed, lookup: names(outside).lookup, connectMillis })
        const ports = [plain.port, yield* Effect.promise(() => boundPort(silent)), closed]
        // A payer sees the result of an LNURL. Only the owner of a webhook endpoint sees the reason.
        const asking = Lnurl.asking({ ask, connect: () => Effect.never })
        const outcomes = yield* Effect.forEach(ports, (port) =>
          elapsed(Effect.flip(asking({ url: `https://page.example.com:${port}/` })))
        )
        for (const { value, millis } of outcomes) {
          assert.strictEqual(value._tag, "RecipientUnreachable")
          assert.deepStrictEqual(JSON.stringify(value), JSON.stringify(outcomes[0]?.value))
          assert.isAtLeast(millis, connectMillis - 5)
        }
      })
  )

  it.live("outbound: a trusted host that refuses the connection is reported at once", () =>
    Effect.gen(function* () {
      const closed = yield* Effect.scoped(Effect.map(serve(hello), ({ port }) => port))
      const minutes = { connectMillis: 600_000, totalMillis: 600_000 }
      const trusted = Outbound.make({
        allow: new Map([["pay.example", new URL(`http://127.0.0.1:${closed}`)]]),
        ...minutes
      })
      const open = Outbound.make({ allowsLoopback: true, ...minutes })
      assert.strictEqual(
        (yield* Effect.flip(trusted.ask({ url: "https://pay.example/" })))._tag,
        "Unreachable"
      )
      assert.strictEqual(
        (yield* Effect.flip(open.ask({ url: `http://127.0.0.1:${closed}/` })))._tag,
        "Unreachable"
      )
    })
  )

  it.live(
    "C48: outbound: each of three redirects is checked like the first URL: no other scheme, internal host or low port",
    () =>
      Effect.gen(function* () {
        let steps: ReadonlyArray<string> = []
        const answer: http.RequestListener = ({ url = "" }, response) => {
          const next = steps[Number(url.slice(1) || 0)]
          if (next !== undefined) response.writeHead(301, { location: next })
          response.end("paid here")
        }
        const hosts = ["www.example.com", "pay.example.com", "page.example.com"]
        const resolves = {
          ...Object.fromEntries(hosts.map((host) => [host, [["127.0.0.2"]]])),
          "inside.example.com": [["127.0.0.3"]]
        }
        const { server, ask, url } = yield* page({ answer, resolves })
        const inside = yield* internal(server)
        const hops = hosts.map((host, n) => `https://${host}:${server.port}/${n + 1}`)
        steps = hops
        assert.strictEqual((yield* ask({ url })).body, "paid here")
        for (const [n, host] of hosts.entries())
          for (const bad of [
            `http://${host}:${server.port}/${n + 1}`,
            `https://inside.example.com:${inside.port}/`,
            `https://127.0.0.3:${inside.port}/`,
            `https://${host}:22/`,
            `https://user@${host}:${server.port}/`,
            "https://hidden.onion/",
            "file:///etc/passwd"
          ]) {
            steps = [...hops.slice(0, n), bad]
            const before = server.asked.length
            assert.strictEqual((yield* Effect.flip(ask({ url })))._tag, "Forbidden", `${n}: ${bad}`)
            assert.strictEqual(server.asked.length - before, n + 1, bad)
          }
        assert.strictEqual(inside.connections(), 0)
      })
  )

  it.live(
    "C50: outbound: a trusted host is reached at the given address, and its redirects are not trusted",
    () =>
      Effect.gen(function* () {
        const server = yield* serve((request, response) => {
          if (request.url === "/away")
            response.writeHead(302, { location: `http://127.0.0.1:${server.port}/` })
          response.end("hello")
        })
        const allow = new Map([["pay.example", new URL(`http://127.0.0.1:${server.port}`)]])
        const { ask } = Outbound.make({ allow })
        assert.strictEqual((yield* ask({ url: "https://pay.example/here" })).body, "hello")
        assert.strictEqual(server.asked[0]?.headers.host, "pay.example")
        assert.strictEqual((yield* Effect.flip(ask({ url: "https://pay.example/away" })))._tag, "Forbidden")
        assert.strictEqual(
          (yield* Effect.flip(ask({ url: "https://pay.example:8443/" })))._tag,
          "Forbidden",
          "another port is another host"
        )
        assert.strictEqual(server.connections(), 2)
      })
  )
})

describe("a server's responses", () => {
  const asking = Effect.fnUntraced(function* (
    answer: http.RequestListener,
    limits: Partial<Outbound.Limits> = {}
  ) {
    const { port } = yield* serve(answer)
    const { ask } = Outbound.make({
      maxBytes: 1000,
      ...limits,
      allow: new Map([["pay.example", new URL(`http://127.0.0.1:${port}`)]])
    })
    return yield* ask({ url: "https://pay.example/" })
  })

  const failure = (...ask: Parameters<typeof asking>) => Effect.flip(asking(...ask))

  const slow = { totalMillis: 600 }

  it.live("outbound: three redirects are followed, but a fourth redirect is not, and a loop ends", () =>
    Effect.gen(function* () {
      const redirecting =
        (times: number): http.RequestListener =>
        ({ url = "" }, response) => {
          const n = Number(url.slice(1) || 0)
          if (n < times) response.writeHead(307, { location: `/${n + 1}` })
          response.end(String(n))
        }
      for (const times of [1, 2, 3])
        assert.strictEqual((yield* asking(redirecting(times))).body, String(times))
      const reason = "redirects more often than 3 times"
      assert.deepInclude(yield* failure(redirecting(4)), { _tag: "Unusable", reason })
      let requests = 0
      const looping: http.RequestListener = (_, response) => {
        requests++
        response.writeHead(302, { location: "/" }).end()
      }
      assert.deepInclude(yield* failure(looping), { _tag: "Unusable", reason })
      assert.strictEqual(requests, 4)
    })
  )

  it.live("outbound: a response that is too long is rejected, whether or not its length is declared", () =>
    Effect.gen(function* () {
      const said = yield* failure((_, response) =>
        response.writeHead(200, { "content-length": 1001 }).end("x".repeat(1001))
      )
      assert.deepInclude(said, { _tag: "Unusable", reason: "returned more than 1000 bytes" })
      const { value, millis } = yield* elapsed(
        failure((_, response) => {
          const more = () => {
            if (!response.destroyed) response.write("x".repeat(900), () => setImmediate(more))
          }
          more()
        })
      )
      assert.deepInclude(value, { _tag: "Unusable" })
      assert.isBelow(millis, Outbound.defaults.totalMillis, "reading stops, although the response never ends")
    })
  )

  it.effect("outbound: a response that arrives too slowly, byte by byte, is rejected", () =>
    Effect.gen(function* () {
      const { listener, isHeard } = Dripping.make()
      const asked = yield* Effect.forkChild(failure(listener, slow), { startImmediately: true })
      yield* isHeard
      yield* TestClock.adjust(slow.totalMillis)
      assert.deepInclude(yield* Fiber.join(asked), {
        _tag: "Unusable",
        reason: "did not complete within 0.6 seconds"
      })
    })
  )

  it.live(
    "outbound: a response in too many chunks, or after too many interim responses, is rejected without reading the rest",
    () =>
      Effect.gen(function* () {
        const saying = (text: string) => (request: http.IncomingMessage) => void request.socket.write(text)
        const chunks = (count: number) =>
          `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(count)}`
        const enough = yield* asking(saying(`${chunks(Outbound.maxParts)}0\r\n\r\n`), {
          maxBytes: Outbound.maxParts
        })
        assert.strictEqual(enough.body, "x".repeat(Outbound.maxParts))
        const many = 2 * Outbound.maxParts
        for (const text of [chunks(many), "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(many)])
          assert.deepInclude(yield* failure(saying(text), { ...slow, maxBytes: many }), {
            _tag: "Unusable",
            reason: `responded in more than ${Outbound.maxParts} parts`
          })
      })
  )

  it.live("outbound: a response that never begins counts as an outage", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* failure(() => undefined, slow))._tag, "Unreachable")
    })
  )

  it.live("outbound: a response that breaks off counts as an outage", () =>
    Effect.gen(function* () {
      const broken = yield* failure((_, response) => {
        response.writeHead(200, { "content-length": 100 })
        response.write("half", () => response.destroy())
      })
      assert.strictEqual(broken._tag, "Unreachable")
    })
  )

  it.live("outbound: an unrequested encoding and a body that is not text are rejected", () =>
    Effect.gen(function* () {
      const packed = yield* failure((_, response) =>
        response.writeHead(200, { "content-encoding": "gzip" }).end("x")
      )
      assert.deepInclude(packed, { _tag: "Unusable" })
      const binary = yield* failure((_, response) => response.end(Buffer.from([0xff, 0xfe])))
      assert.deepInclude(binary, { _tag: "Unusable" })
    })
  )

  it.live("outbound: a protocol switch is rejected", () =>
    Effect.gen(function* () {
      const switched = yield* failure((request) => {
        request.socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n")
      })
      assert.strictEqual(switched._tag, "Unreachable")
    })
  )
})
