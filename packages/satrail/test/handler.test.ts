import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Received, webhooks } from "@satrail/client"
import { answerTo } from "@satrail/testing/answerTo"
import { boundPort } from "@satrail/testing/boundPort"
import { once } from "node:events"
import { createServer, get, type IncomingMessage, request, type ServerResponse } from "node:http"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { inside, make } from "@satrail/server/serving/Handler"
import { satrail, type SimulatedPay } from "../src/index.ts"

let pay: SimulatedPay
let authorization: string

beforeAll(async () => {
  pay = await satrail.test()
  const { id } = await pay.companies.create({ name: "Shop" })
  const { key } = await pay.apiKeys.create({ company: id, name: "website", scopes: ["read", "receive"] })
  authorization = `Bearer ${key}`
})
afterAll(() => pay.close())

/** Runs a Node server while `use` runs. */
const served = async (
  listen: (request: IncomingMessage, response: ServerResponse) => unknown,
  use: (url: string) => Promise<void>
) => {
  const server = createServer((request, response) => void listen(request, response))
  try {
    await use(`http://127.0.0.1:${await boundPort(server.listen(0, "127.0.0.1"))}`)
  } finally {
    server.close()
    await once(server, "close")
  }
}

const order = { amount: 5, currency: "sats", description: "Coffee" }

describe("pay.handler", () => {
  it("handler: a web request gets a response", async () => {
    const answer = await pay.handler(
      new Request("http://shop.example/v1/transactions/balance", { headers: { authorization } })
    )
    assert.strictEqual(answer.status, 200)
    assert.strictEqual(JSON.parse(await answer.text()).data.balance, 0)
  })

  it("handler: a web request below /pay gets the same response", async () => {
    const answer = await pay.handler(
      new Request("http://shop.example/pay/v1/transactions/balance", { headers: { authorization } })
    )
    assert.strictEqual(answer.status, 200)
  })

  it("handler: a Node request with a body gets a response", () =>
    served(pay.handler, async (url) => {
      const headers = { authorization, "content-type": "application/json" }
      const answer = await fetch(`${url}/v1/bitcoin/deposit/lightning-invoice`, {
        method: "POST",
        headers,
        body: JSON.stringify(order)
      })
      assert.strictEqual(answer.status, 201)
      assert.match(JSON.parse(await answer.text()).data.payment_request, /^lnbcrt/)
    }))

  it("handler: each caller of a Node server has its own rate limit", async () => {
    const limited = await satrail.test({ settings: { SATRAIL_REQUESTS_PER_STRANGER: "2" } })
    try {
      await served(limited.handler, async (url) => {
        const statusFrom = async (localAddress: string) => {
          const [response] = await once(get(`${url}/v1/transactions/balance`, { localAddress }), "response")
          response.resume()
          return response.statusCode
        }
        const loud = [
          await statusFrom("127.0.0.1"),
          await statusFrom("127.0.0.1"),
          await statusFrom("127.0.0.1")
        ]
        assert.deepStrictEqual([...loud, await statusFrom("127.0.0.2")], [401, 401, 429, 401])
      })
    } finally {
      await limited.close()
    }
  })

  it("handler: behind a proxy, each caller has its own rate limit, also in a framework that passes a web request", async () => {
    const limited = await satrail.test({ proxies: 1, settings: { SATRAIL_REQUESTS_PER_STRANGER: "2" } })
    try {
      const statusFrom = async (forwarded: string) => {
        const headers = { "x-forwarded-for": forwarded }
        return (
          await limited.handler(new Request("http://shop.example/v1/transactions/balance", { headers }))
        ).status
      }
      const loud = [
        await statusFrom("192.0.2.1"),
        await statusFrom("192.0.2.1"),
        await statusFrom("192.0.2.1")
      ]
      assert.deepStrictEqual([...loud, await statusFrom("198.51.100.1")], [401, 401, 429, 401])
    } finally {
      await limited.close()
    }
  })

  it("handler: at the root of a framework, other paths go to the next handler", () => {
    const mounted = (request: IncomingMessage, response: ServerResponse) =>
      pay.handler(Object.assign(request, { originalUrl: request.url, baseUrl: "" }), response, () =>
        response.end("the shop's page")
      )
    return served(mounted, async (url) => {
      const read = async (path: string) => (await fetch(`${url}${path}`)).text()
      assert.strictEqual(await read("/hello"), "the shop's page")
      assert.strictEqual(await read("/"), "the shop's page")
      assert.include(await read("/v1/nothing"), "No such route")
      assert.include(await read("/healthz"), "200")
    })
  })

  it("handler: the response is the same if a framework strips the prefix, and the checkout page keeps its path", async () => {
    const { url: page } = await pay.checkouts.create({
      company: (await pay.companies.list()).items[0]?.id ?? "",
      amount: 7
    })
    /** As Express mounts a handler at /pay. */
    const mounted = (request: IncomingMessage, response: ServerResponse) => {
      const { url = "/" } = request
      return pay.handler(
        Object.assign(request, { originalUrl: url, baseUrl: "/pay", url: url.slice("/pay".length) }),
        response
      )
    }
    await served(mounted, async (url) => {
      const balance = await fetch(`${url}/pay/v1/transactions/balance`, { headers: { authorization } })
      assert.strictEqual(balance.status, 200)
      const answer = await fetch(url + new URL(page).pathname)
      assert.strictEqual(answer.status, 200)
      assert.match(await answer.text(), /<html/)
    })
  })

  it("handler: responses follow the clock that a test advances", async () => {
    const { items } = await pay.companies.list()
    const { id } = await pay.invoices.create({ company: items[0]?.id ?? "", amount: 5, expirySeconds: 600 })
    const statusOf = async () => {
      const path = `/v1/bitcoin/deposit/lightning-invoice/${id}`
      const answer = await pay.handler(
        new Request(`http://shop.example${path}`, { headers: { authorization } })
      )
      return JSON.parse(await answer.text()).data.status
    }
    assert.strictEqual(await statusOf(), "open")
    await pay.clock.advance("1 hour")
    assert.strictEqual(await statusOf(), "expired")
  })

  it("handler: a client that disconnects during a response causes no error", async () => {
    const answered: Array<Promise<void>> = []
    const listen = (request: IncomingMessage, response: ServerResponse) =>
      void answered.push(pay.handler(request, response))
    await served(listen, async (url) => {
      const controller = new AbortController()
      const { body } = await fetch(`${url}/v1/events/stream?cursor=oldest`, {
        headers: { authorization },
        signal: controller.signal
      })
      await body?.getReader().read()
      controller.abort()
    })
    assert.lengthOf(answered, 1)
    await Promise.all(answered)
  })

  it("handler: a response that fails while its reader does not read closes the connection, and its error is reported", async () => {
    const failing = Promise.withResolvers<() => void>()
    const handled = Promise.withResolvers<unknown>()
    const mounted = make(async () => {
      const body = new ReadableStream({
        start: (controller) => {
          controller.enqueue(new Uint8Array(64 * 1024 * 1024))
          failing.resolve(() => controller.error(new Error("cut short")))
        }
      })
      return new Response(body)
    }, handled.resolve)
    await served(
      (request, response) => mounted(request, response).then(handled.resolve, handled.resolve),
      async (url) => {
        const socket = connect(Number(new URL(url).port), "127.0.0.1").pause()
        socket.on("error", () => {})
        socket.write("GET / HTTP/1.1\r\nHost: service\r\n\r\n")
        const fail = await failing.promise
        await once(socket, "readable")
        fail()
        assert.strictEqual(String(await handled.promise), "Error: cut short")
        socket.destroy()
      }
    )
  })

  it("handler: a request that no web request can represent is answered, and causes no error", async () => {
    const failed = Promise.withResolvers<never>()
    const listen = (request: IncomingMessage, response: ServerResponse) =>
      void pay.handler(request, response).catch(failed.reject)
    await served(listen, async (url) => {
      const statusOf = async (target: string) => {
        const socket = connect(Number(new URL(url).port), "127.0.0.1").setEncoding("latin1")
        socket.write(`${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
        const [text] = await Promise.race([once(socket, "data"), failed.promise]).finally(() =>
          socket.destroy()
        )
        return /^HTTP\/1.1 (\d+)/.exec(text)?.[1]
      }
      assert.strictEqual(await statusOf("GET http://localhost/healthz"), "200")
      assert.strictEqual(await statusOf("GET http://["), "400")
      assert.strictEqual(await statusOf("TRACE /v1/account"), "400")
      for (const path of ["//", "//[", "//other.example/healthz", "//other.example:99999/"])
        assert.strictEqual(await statusOf(`GET ${path}`), "404", path)
    })
  })

  it("handler: a path that a URL would change gets 404 or 400, so that a guard before the handler and the service see the same path", async () => {
    const route = "/v1/transactions/balance"
    const listen = (request: IncomingMessage, response: ServerResponse) => void pay.handler(request, response)
    /** As Express mounts a handler at /pay. */
    const mounted = (request: IncomingMessage, response: ServerResponse) =>
      void pay.handler(Object.assign(request, { originalUrl: request.url, baseUrl: "/pay" }), response)
    const dots = ["..", "%2e%2e", ".%2e", "%2E."].flatMap((up) => [
      `/x/${up}${route}`,
      `/v1/x/${up}${route.slice(3)}`,
      `/${up}${route}`
    ])
    const one = [".", "%2e"].flatMap((here) => [
      `/${here}${route}`,
      `${route}/${here}`,
      route.replace("/t", `/${here}/t`)
    ])
    const backslashes = [route.replaceAll("/", "\\"), `/x/..\\${route}`, `\\${route}`, `/\\x/..${route}`]
    const others = [
      `/${route}`,
      route.replace("/t", "//t"),
      "/%76%31/transactions/balance",
      route.replace("/t", "%2ft"),
      `${route}/`,
      `${route}#x`,
      `${route}"`
    ]
    const targets = [...dots, ...one, ...backslashes, ...others]
    for (const [host, prefix, handler] of [
      ["", "", listen],
      ["http://localhost", "", listen],
      ["", "/pay", mounted]
    ] as const)
      await served(handler, async (url) => {
        const statusOf = async (target: string) => {
          const head = `GET ${host}${prefix}${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`
          return Number(/^HTTP\/1.1 (\d+)/.exec(await answerTo(Number(new URL(url).port), head))?.[1])
        }
        assert.strictEqual(await statusOf(route), 200)
        assert.strictEqual(
          await statusOf("/v1/transactions?from=2026-01-01T00:00:00.000Z&cursor=/../%2e%2e"),
          400
        )
        for (const target of targets)
          assert.oneOf(await statusOf(target), [400, 404], `${host}${prefix}${target}`)
      })
  })

  /** As behind a body parser. */
  const parsed = async (incoming: IncomingMessage, response: ServerResponse) => {
    await incoming.toArray()
    await pay.handler(incoming, response, (error) => response.end(String(error)))
  }

  it("handler: a body that a body parser has read causes an error that says so", () =>
    served(parsed, async (url) => {
      const headers = { authorization, "content-type": "application/json" }
      const answer = await fetch(`${url}/v1/bitcoin/deposit/lightning-invoice`, {
        method: "POST",
        headers,
        body: JSON.stringify(order)
      })
      assert.include(await answer.text(), "mount pay.handler before body parsers")
    }))

  it("handler: a body that was sent with GET is ignored, also if a body parser has read it", () =>
    served(parsed, async (url) => {
      const headers = { authorization, "content-length": 2 }
      const [answer] = await once(
        request(`${url}/v1/transactions/balance`, { headers }).end("{}"),
        "response"
      )
      assert.property(JSON.parse(await text(answer)), "data")
    }))

  it("handler: without next, an unexpected error is reported and answered with 500, and the program continues", async () => {
    const error = new Error("unexpected")
    const reported: Array<unknown> = []
    const mounted = make(
      () => Promise.reject(error),
      (one) => reported.push(one)
    )
    const listen = (incoming: IncomingMessage, response: ServerResponse) =>
      mounted(incoming, response).catch(() => response.writeHead(200, "rejected").end())
    await served(listen, async (url) =>
      assert.strictEqual((await fetch(url, { method: "POST", body: "{}" })).status, 500)
    )
    assert.deepStrictEqual(reported, [error])
  })

  it("handler: the path of a web request is never read as another host", async () => {
    for (const path of ["/pay//[", "/pay//other.example/healthz"]) {
      const answer = await pay.handler(new Request(`http://shop.example${path}`))
      assert.strictEqual(answer.status, 404, path)
    }
  })

  it("handler: the prefix is removed from a path unless the path is one of the service's own", () => {
    assert.strictEqual(inside("/v1/x"), "/v1/x")
    assert.strictEqual(inside("/pay/v1/x?a=1"), "/v1/x?a=1")
    assert.strictEqual(inside("/pay/3f2a"), "/pay/3f2a")
    assert.strictEqual(inside("/pay/3f2a/state"), "/pay/3f2a/state")
    assert.strictEqual(inside("/pay/pay/3f2a"), "/pay/3f2a")
    assert.strictEqual(inside("/pay"), "/")
    assert.strictEqual(inside("/money/v1/x", "/money"), "/v1/x")
    assert.strictEqual(inside("/ui/a.css", "/ui"), "/ui/a.css")
    assert.strictEqual(inside("/console", "/console"), "/console")
    assert.strictEqual(inside("/payments/v1"), "/payments/v1")
  })

  for (const [options, port, base] of [
    [{}, undefined, "http://localhost:3000"],
    [{}, "4000", "http://localhost:4000"],
    [{ publicUrl: "http://localhost:5000/pay" }, "4000", "http://localhost:5000/pay"],
    [{ domain: "pay.example.com" }, "4000", "https://pay.example.com"]
  ] as const)
    it(`handler: with ${JSON.stringify(options)} and PORT=${port ?? ""}, links begin with ${base} and can be opened`, async () => {
      const kept = process.env["PORT"]
      if (port === undefined) delete process.env["PORT"]
      else process.env["PORT"] = port
      const own = await satrail.test(options).finally(() => {
        if (kept === undefined) delete process.env["PORT"]
        else process.env["PORT"] = kept
      })
      const get = async (url: string) => JSON.parse(await (await own.handler(new Request(url))).text())
      const company = await own.companies.create({ name: "Shop", plan: "paid" })
      await own.outside.pay(await own.invoices.create({ company, amount: 1000 }))
      const { lnurlw } = await own.vouchers.create({ company, amount: 10 })
      const url = lnurlw.replace(/^lnurlw:/, new URL(base).protocol)
      assert.isTrue(url.startsWith(`${base}/lnurlw?k1=`), url)
      assert.strictEqual((await get(url)).callback, `${base}/lnurlw/callback`)
      const { domain } = await own.lightningAddresses.create({ company, handle: "ann" })
      const { callback } = await get(`${base}/.well-known/lnurlp/ann`)
      assert.strictEqual(callback, `${base}/lnurlp/${domain}/ann/callback`)
      assert.match((await get(`${callback}?amount=5000`)).pr, /^lnbcrt/)
      await own.close()
    })
})

describe("pay.webhooks", () => {
  it("webhook: a receiver accepts a webhook that is sent after the clock of a sandbox was advanced", async () => {
    const advanced = await satrail.test()
    try {
      const received = Promise.withResolvers<Received>()
      const receive = async (request: IncomingMessage, response: ServerResponse) => {
        received.resolve({ headers: request.headers, body: Buffer.concat(await request.toArray()) })
        response.end()
      }
      await served(receive, async (url) => {
        const { id } = await advanced.companies.create({ name: "Shop" })
        const endpoint = await advanced.webhooks.create({ company: id, url })
        await advanced.clock.advance("1 hour")
        await advanced.webhooks.test(id, endpoint.id)
        const event = await webhooks.verify(await received.promise, endpoint.secret)
        assert.strictEqual(event.type, "webhook_endpoint.test")
      })
    } finally {
      await advanced.close()
    }
  })
})
