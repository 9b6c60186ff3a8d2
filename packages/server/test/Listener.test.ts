import { afterEach, assert, describe, it } from "@effect/vitest"
import { answerTo } from "@satrail/testing/answerTo"
import { boundPort } from "@satrail/testing/boundPort"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { once } from "node:events"
import { IncomingMessage, maxHeaderSize, ServerResponse } from "node:http"
import { setImmediate as turn } from "node:timers/promises"
import { connect, Socket } from "node:net"
import { vi } from "vitest"
import * as Listener from "../src/serving/Listener.ts"
import { stalledMillis } from "../src/serving/Stalled.ts"

describe("input that is not a valid request", () => {
  /** Returns everything our server sends in response to `text`, until it closes the connection. */
  const refusalOf = async (text: string, times: Parameters<typeof Listener.make>[0] = {}) => {
    const server = Listener.make(times, undefined, "https://pay.example.com").listen(0, "127.0.0.1")
    const [head = "", body = ""] = (await answerTo(await boundPort(server), text)).split("\r\n\r\n")
    await once(server.close(), "close")
    return { head, body: JSON.parse(body) }
  }

  const hasty = { headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 20 }
  const unreadable: ReadonlyArray<readonly [what: string, text: string, status: number, code: string]> = [
    ["bytes that are not HTTP", "hello\r\n\r\n", 400, "malformed"],
    [
      "headers that are too long",
      `GET / HTTP/1.1\r\nX: ${"x".repeat(maxHeaderSize)}\r\n\r\n`,
      431,
      "headers_too_large"
    ],
    ["headers without an end", "GET / HTTP/1.1\r\nHost: service\r\n", 408, "request_timeout"],
    ["a proxy request", "CONNECT service:443 HTTP/1.1\r\nHost: service\r\n\r\n", 405, "method_not_allowed"],
    [
      "an unknown expectation",
      "GET / HTTP/1.1\r\nHost: service\r\nExpect: wonders\r\n\r\n",
      417,
      "expectation_failed"
    ]
  ]
  for (const [what, text, status, code] of unreadable) {
    it(`listener: for ${what}, the server returns ${status} ${code} in an envelope and closes the connection`, async () => {
      const { head, body } = await refusalOf(text, status === 408 ? hasty : {})
      assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} [A-Z]`))
      assert.match(head, /^connection: close$/im)
      assert.match(head, /^content-type: application\/json$/im)
      assert.deepStrictEqual([body.status, body.data, body.error.code], [status, null, code])
      const [, requestId = ""] = /^x-request-id: (\S+)$/im.exec(head) ?? []
      assert.match(requestId, /^[0-9a-f]{32}$/)
      assert.deepStrictEqual(
        [body.error.request_id, body.error.doc_url],
        [requestId, `https://pay.example.com/docs/errors#${code}`]
      )
    })
  }

  for (const [what, line, more] of [
    ["a proxy request", "CONNECT service:443 HTTP/1.1", ""],
    ["an unknown expectation", "GET / HTTP/1.1", "Expect: wonders\r\n"]
  ] as const) {
    it(`listener: for ${what}, the response repeats a well-formed request id`, async () => {
      const asked = (id: string) =>
        refusalOf(`${line}\r\nHost: service\r\n${more}X-Request-Id: ${id}\r\n\r\n`)
      const kept = await asked("order-1042")
      assert.match(kept.head, /^x-request-id: order-1042$/im)
      assert.strictEqual(kept.body.error.request_id, "order-1042")
      assert.match((await asked("<script>")).body.error.request_id, /^[0-9a-f]{32}$/)
    })
  }
})

it("listener: even with a limit on connections, a request that arrives before the handler is attached gets its response", async () => {
  const server = Listener.make(
    {},
    { maxConnections: 8, proxies: 0, whenFull: () => assert.fail("not full") }
  ).listen(0, "127.0.0.1")
  const port = await boundPort(server)
  const arrived = new Promise<void>((resolve) => {
    const begun = "http.server.request.start"
    const told = (message: unknown) => {
      if ((message as { readonly server: unknown }).server !== server) return
      unsubscribe(begun, told)
      setImmediate(resolve)
    }
    subscribe(begun, told)
  })
  const response = fetch(`http://127.0.0.1:${port}/`)
  await arrived
  server.on("request", (_, late: ServerResponse) => late.end("late"))
  assert.strictEqual(await (await response).text(), "late")
  await once(server.close(), "close")
})

it("listener: responses that become ready in the same event-loop turn are sent together, each exactly once", async () => {
  const responses: Array<ServerResponse> = []
  const server = Listener.make()
    .on("request", (_, response) => responses.push(response))
    .listen(0, "127.0.0.1")
  const port = await boundPort(server)
  const ask = async () => {
    const text: unknown = await (await fetch(`http://127.0.0.1:${port}/`)).text()
    return text
  }
  for (const round of [1, 2]) {
    const asked = Promise.all([ask(), ask()])
    while (responses.length < 2) await once(server, "request")
    const bytes = () =>
      responses.map(({ socket }) => (socket?.bytesWritten ?? 0) - (socket?.writableLength ?? 0))
    const before = bytes()
    for (const [i, response] of responses.entries()) response.end(`answer ${i} of ${round}`)
    assert.deepStrictEqual(bytes(), before, "nothing is sent before all are ready")
    responses.length = 0
    assert.deepStrictEqual((await asked).toSorted(), [`answer 0 of ${round}`, `answer 1 of ${round}`])
  }
  server.closeAllConnections()
  await once(server.close(), "close")
})

describe("a protocol upgrade request", () => {
  it("listener: an upgrade request's connection closes after the response, because Node drops what follows it in the same read", async () => {
    const server = Listener.make().listen(0, "127.0.0.1")
    server.on("request", ({ url }, response) => response.end(url))
    const request = (path: string, more: string) => `GET ${path} HTTP/1.1\r\nHost: service\r\n${more}\r\n`
    const port = await boundPort(server)
    const answer = await answerTo(
      port,
      request("/one", "Connection: upgrade\r\nUpgrade: h2c\r\n") + request("/two", "")
    )
    assert.match(answer, /^connection: close$/im)
    assert.match(answer, /\/one$/)
    await once(server.close(), "close")
  })

  it("listener: an upgrade request gets a normal response, and the connection ends when the client disconnects", async () => {
    const server = Listener.make().listen(0, "127.0.0.1")
    server.on("request", (_, response) => response.end("done"))
    server.on("upgrade", (_, socket) => socket.end("HTTP/1.1 101 Switching Protocols\r\n\r\n"))
    const port = await boundPort(server)
    const socket = connect(port, "127.0.0.1")
    socket.write("GET / HTTP/1.1\r\nHost: service\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")
    const [answer] = await once(socket, "data")
    assert.match(String(answer), /^HTTP\/1\.1 200 /)
    socket.end()
    await once(socket.resume(), "close")
    await once(server.close(), "close")
  })
})

describe("a request before the handler is attached", () => {
  /**
   * A server that has read one request and has no handler yet. The bytes after the request cannot be parsed,
   * which Node reports after it has read the request.
   */
  const asked = async () => {
    const server = Listener.make().listen(0, "127.0.0.1")
    const answer = answerTo(await boundPort(server), "GET / HTTP/1.1\r\nHost: service\r\n\r\nhello\r\n\r\n")
    await once(server, "clientError")
    return { server, answer }
  }

  it("listener: a request that arrives before the handler is attached gets its response once there is a handler", async () => {
    const { server, answer } = await asked()
    server.on("request", (_, response) => response.end("done"))
    assert.match(await answer, /^HTTP\/1\.1 200 /)
    await once(server.close(), "close")
  })

  it("listener: a request that arrives before the handler is attached does not keep a closing server open", async () => {
    const { server, answer } = await asked()
    await once(server.close(), "close")
    assert.strictEqual(await answer, "")
  })
})

describe("a stopping server", () => {
  it("listener: a response in progress when the server stops is the last on its connection, and the response's header announces the close", async () => {
    const server = Listener.make().listen(0, "127.0.0.1")
    const waiting = once(server, "request")
    const answer = answerTo(await boundPort(server), "GET / HTTP/1.1\r\nHost: service\r\n\r\n")
    const [, response] = await waiting
    const closed = once(server.close(), "close")
    response.end("done")
    assert.match(await answer, /^connection: close$/im)
    await closed
  })
})

describe("a client that disconnects", () => {
  const get = "GET / HTTP/1.1\r\nHost: service\r\n\r\n"
  const start = async (
    options: Parameters<typeof Listener.make>[0],
    handle: (response: ServerResponse) => void
  ) => {
    const server = Listener.make(options).listen(0, "127.0.0.1")
    server.on("request", (_, response) => handle(response))
    const port = await boundPort(server)
    return { server, socket: connect(port, "127.0.0.1").on("error", () => {}) }
  }

  it("listener: no work begins for a client that disconnects in the event-loop turn in which its request is read", async () => {
    let [read, begun] = [0, 0]
    class Left extends IncomingMessage {
      constructor(socket: Socket) {
        super(socket)
        read++
        queueMicrotask(() => socket.destroy())
      }
    }
    const { server, socket } = await start({ IncomingMessage: Left }, () => begun++)
    socket.write(get + get)
    await once(socket, "close")
    await turn()
    assert.deepStrictEqual([read > 0, begun], [true, 0])
    await once(server.close(), "close")
  })

  /** Emits a request as if it had been read from a new connection. */
  const send = (server: ReturnType<typeof Listener.make>, bytes: number) => {
    const request = new IncomingMessage(new Socket())
    request.headers["content-length"] = String(bytes)
    const response = new ServerResponse(request)
    response.assignSocket(request.socket)
    server.emit("request", request, response)
    return request
  }

  it("listener: an event-loop turn starts only a few requests with large bodies, and a disconnected client's requests are not started", async () => {
    const server = Listener.make()
    const begun: Array<IncomingMessage> = []
    server.on("request", (request) => begun.push(request))
    const bytes = 65_536
    const requests = Array.from({ length: 12 }, () => send(server, bytes))
    await turn()
    const first = Listener.turnBytes / bytes
    assert.strictEqual(begun.length, first)
    for (const { socket } of requests.slice(first, 10)) socket.destroy()
    for (let n = 0; n < 3; n++) await turn()
    assert.deepStrictEqual(begun.slice(first), requests.slice(10))
  })

  it("listener: an event-loop turn starts only a limited number of requests without a body", async () => {
    const server = Listener.make()
    let begun = 0
    server.on("request", () => begun++)
    for (let n = 0; n < 2 * Listener.turnRequests; n++) send(server, 0)
    for (const turns of [1, 2]) {
      await turn()
      assert.strictEqual(begun, turns * Listener.turnRequests)
    }
  })
})

describe("bytes after a request", () => {
  it("listener: unreadable bytes after a request do not replace the response to that request, because the request took effect", async () => {
    const server = Listener.make().listen(0, "127.0.0.1")
    // Respond after the parse error, like a request that waits for its commit.
    server.on("request", (_, response) => setImmediate(() => response.writeHead(201).end("made")))
    const answer = await answerTo(
      await boundPort(server),
      "POST / HTTP/1.1\r\nHost: service\r\nContent-Length: 2\r\n\r\n{}hello\r\n\r\n"
    )
    await once(server.close(), "close")
    assert.match(answer, /^HTTP\/1\.1 201 /)
    assert.match(answer, /^connection: close$/im)
    assert.match(answer, /made/)
    assert.notInclude(answer, "malformed")
  })
})

describe("connection limits", () => {
  const open = async (port: number, localAddress: string) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress })
    await once(socket, "connect")
    return socket.resume()
  }
  const ask = async (socket: Awaited<ReturnType<typeof open>>) => {
    socket.write("GET / HTTP/1.1\r\nHost: service\r\n\r\n")
    const [answer] = await once(socket, "data")
    return String(answer)
  }
  const start = async (maxConnections: number) => {
    let ended = 0
    const server = Listener.make({}, { maxConnections, proxies: 0, whenFull: () => (ended += 1) }).listen(
      0,
      "127.0.0.1"
    )
    server.on("request", (_, response) => response.end("done"))
    const port = await boundPort(server)
    const close = () => server.closeAllConnections() ?? server.close()
    return { port, close, ended: () => ended }
  }

  it("listener: an address that opens every available connection keeps only an eighth of them, and other addresses can connect", async () => {
    const { port, close, ended } = await start(64)
    const others = [await open(port, "127.1.0.1"), await open(port, "127.2.0.1")]
    const attacker: Array<Awaited<ReturnType<typeof open>>> = []
    for (let n = 0; n < 100; n++) attacker.push(await open(port, "127.0.0.7"))
    for (const socket of [...others, await open(port, "127.3.0.1")])
      assert.match(await ask(socket), /^HTTP\/1\.1 200 /)
    assert.strictEqual(ended(), 100 - 8)
    for (const socket of [...attacker, ...others]) socket.destroy()
    close()
  })

  it("listener: when many addresses use all connections, some connections are closed to admit an address that has fewer of them", async () => {
    const { port, close } = await start(16)
    const attackers: Array<Awaited<ReturnType<typeof open>>> = []
    const other = await open(port, "127.1.0.1")
    for (let n = 0; n < 100; n++) attackers.push(await open(port, `127.0.${n % 4}.${1 + (n % 50)}`))
    for (const socket of [other, await open(port, "127.2.0.1")])
      assert.match(await ask(socket), /^HTTP\/1\.1 200 /)
    for (const socket of [...attackers, other]) socket.destroy()
    close()
  })

  it("listener: an address that exceeds its share of connections loses the connection that has been idle longest", async () => {
    const { port, close } = await start(16)
    const [used, idle] = [await open(port, "127.0.0.1"), await open(port, "127.0.0.1")]
    assert.match(await ask(used), /^HTTP\/1\.1 200 /)
    const gone = once(idle, "close")
    const third = await open(port, "127.0.0.1")
    await gone
    for (const socket of [used, third]) assert.match(await ask(socket), /^HTTP\/1\.1 200 /)
    for (const socket of [used, third]) socket.destroy()
    close()
  })
})

describe("connections", () => {
  /** Sends a request through a proxy for a caller. */
  const through = async (port: number, caller: string, path = "/") => {
    const socket = connect(port, "127.0.0.1").on("error", () => {})
    await once(socket, "connect")
    socket.write(`GET ${path} HTTP/1.1\r\nHost: service\r\nX-Forwarded-For: 203.0.113.1, ${caller}\r\n\r\n`)
    return socket
  }

  it("listener: behind a proxy, a caller that holds all connections loses an eighth of them when another caller connects", async () => {
    let ended = 0
    const held: Array<ServerResponse> = []
    const server = Listener.make({}, { maxConnections: 16, proxies: 1, whenFull: () => (ended += 1) }).listen(
      0,
      "127.0.0.1"
    )
    server.on("request", ({ url }, response) =>
      url === "/held" ? held.push(response) : response.end("done")
    )
    const port = await boundPort(server)
    const customer = await through(port, "198.51.100.7", "/held")
    for (let n = 0; n < 15; n++) await through(port, "192.0.2.1", "/held")
    while (held.length < 16) await once(server, "request")
    assert.strictEqual(ended, 0)
    for (const caller of ["198.51.100.7", "198.51.100.8"]) {
      const socket = await through(port, caller)
      const [first] = await Promise.race([once(socket, "data"), once(socket, "close")])
      assert.match(String(first), /^HTTP\/1\.1 200 /)
    }
    assert.strictEqual(ended, 3)
    assert.isFalse(customer.destroyed)
    server.closeAllConnections()
    await once(server.close(), "close")
  })
})

describe("a response that is not read", () => {
  /** More than the system's buffers of a connection hold. */
  const body = Buffer.alloc(64 * 1024 * 1024, "a")
  const start = async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
    const server = Listener.make().listen(0, "127.0.0.1")
    server.on("request", (_, response) => response.end(body))
    const port = await boundPort(server)
    const client = connect(port, "127.0.0.1")
      .pause()
      .on("error", () => {})
    client.write("GET / HTTP/1.1\r\nHost: service\r\nConnection: close\r\n\r\n")
    const [{ socket }] = await once(server, "request")
    await turn()
    return { server, client, socket, check: () => vi.advanceTimersByTime(stalledMillis) }
  }
  afterEach(() => vi.useRealTimers())

  it("listener: the connection of a client that does not read a response for a while is closed", async () => {
    const { server, client, socket, check } = await start()
    check()
    assert.isFalse(socket.destroyed)
    check()
    const isClosed = socket.destroyed
    client.destroy()
    await once(server.close(), "close")
    assert.isTrue(isClosed)
  })

  it("listener: a client that reads slowly gets the whole response, however long that takes", async () => {
    const { server, client, socket, check } = await start()
    const waiting = () => Reflect.get(Reflect.get(socket, "_handle") ?? {}, "writeQueueSize") ?? 0
    let read = 0
    client.on("data", (part: Buffer) => (read += part.length)).pause()
    const closed = once(client, "close")
    let checks = 0
    while (waiting() > 0) {
      check()
      checks++
      const before = waiting()
      client.resume()
      while (waiting() > 0 && waiting() === before) await turn()
      client.pause()
    }
    client.resume()
    await closed
    assert.isAbove(checks, 1)
    assert.isAtLeast(read, body.length)
    await once(server.close(), "close")
  })

  it("listener: an open response without unread bytes is not closed", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
    const server = Listener.make().listen(0, "127.0.0.1")
    const port = await boundPort(server)
    const client = connect(port, "127.0.0.1")
    client.write("GET / HTTP/1.1\r\nHost: service\r\n\r\n")
    const [{ socket }, response] = await once(server, "request")
    response.write("first")
    await once(client, "data")
    for (let n = 0; n < 3; n++) vi.advanceTimersByTime(stalledMillis)
    assert.isFalse(socket.destroyed)
    client.destroy()
    await once(server.close(), "close")
  })
})
