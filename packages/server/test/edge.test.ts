import { afterAll, assert, describe, it } from "@effect/vitest"
import { answerTo } from "@satrail/testing/answerTo"
import { ManagedRuntime } from "effect"
import { HttpServer } from "effect/http"
import { differences } from "../../http/test/Watched.ts"
import * as Listener from "../src/serving/Listener.ts"
import * as Raw from "./hostile/Raw.ts"
import * as Store from "./hostile/Store.ts"
import * as Suite from "./hostile/Suite.ts"

const world = await Suite.open(Store.memory())
const runtime = ManagedRuntime.make(world.server)
const { address } = await runtime.runPromise(HttpServer.HttpServer)
const port = "port" in address ? address.port : assert.fail("no port")
afterAll(async () => {
  await runtime.dispose()
  await world.dispose()
})

const host = "Host: pay.example.com"
const key = `Authorization: Bearer ${world.keys.right.apiKey}`
const balance = "/v1/transactions/balance"

/** A raw HTTP request that closes the connection. */
const wire = (line: string, headers: ReadonlyArray<string>, body = "") =>
  [line, ...headers, "Connection: close", "", body]
    .map((one) => `${one}\r\n`)
    .join("")
    .slice(0, -2)

const get = (target: string, headers: ReadonlyArray<string> = [host, key]) =>
  wire(`GET ${target} HTTP/1.1`, headers)

const body = `{"amount":1,"currency":"sats"}`
const length = `Content-Length: ${body.length}`
const invoice = (headers: ReadonlyArray<string>, sent = body) =>
  wire(
    "POST /v1/bitcoin/deposit/lightning-invoice HTTP/1.1",
    [host, key, "Content-Type: application/json", ...headers],
    sent
  )

const chunked = (sent: string) => `${sent.length.toString(16)}\r\n${sent}\r\n0\r\n\r\n`

/** Returns the response in short form, such as `400 malformed host` for an issue at `host`. */
const refusalOf = async (text: string): Promise<string> => {
  const answers = await Raw.ask(port, Buffer.from(text, "latin1"), "GET")
  return answers
    .map(({ status, type, text }) => {
      assert.match(type, /^application\/json/, text)
      const { status: inBody, error, data } = JSON.parse(text)
      assert.strictEqual(inBody, status)
      if (status < 400) return String(status)
      assert.match(error.request_id, /^[0-9a-f]{32}$/)
      assert.strictEqual(error.doc_url, `/docs/errors#${error.code}`)
      assert.isNull(data)
      return [status, error.code, ...(error.issues ?? []).map(({ path }: { readonly path: string }) => path)]
        .join(" ")
        .trim()
    })
    .join(", ")
}

const cases: ReadonlyArray<readonly [what: string, text: string, answer: string]> = [
  ["two different Hosts", get(balance, [host, "Host: other.example", key]), "400 malformed host"],
  [
    "the same Host twice, in any letter case",
    get(balance, [host, "HOST: pay.example.com", key]),
    "400 malformed host"
  ],
  ["a list of Hosts", get(balance, ["Host: pay.example.com, other.example", key]), "400 malformed host"],
  ["a Host that contains a user", get(balance, ["Host: user@pay.example.com", key]), "400 malformed host"],
  ["a Host that contains a path", get(balance, ["Host: pay.example.com/x", key]), "400 malformed host"],
  ["a Host that spans two lines", get(balance, ["Host:", " pay.example.com", key]), "400 malformed"],
  ["no Host", get(balance, [key]), "400 malformed host"],
  [
    "an absolute target and no Host header",
    get(`http://pay.example.com${balance}`, [key]),
    "400 malformed host"
  ],
  ["a Host with a port", get(balance, ["Host: pay.example.com:8080", key]), "200"],
  ["a Host that is an IPv6 address", get(balance, ["Host: [::1]:8080", key]), "200"],
  ["two keys", get(balance, [host, key, "Authorization: Bearer other"]), "400 malformed authorization"],

  ["# in the path", get(`${balance}#x`), "400 malformed"],
  ["# before the query", get("/v1/transactions#?limit=1"), "400 malformed"],
  ["# in the query", get("/v1/transactions?limit=1#x"), "400 malformed"],
  ["# in an absolute target", get(`http://pay.example.com${balance}#x`), "400 malformed"],
  ["an absolute target", get(`http://pay.example.com${balance}`), "200"],
  ["an absolute target with dots", get(`http://pay.example.com/x/..${balance}`), "404 not_found"],
  ["an absolute target with encoded dots", get(`http://pay.example.com/x/%2e%2e${balance}`), "404 not_found"],
  ["an absolute target with another scheme", get(`ftp://pay.example.com${balance}`), "404 not_found"],
  ["a path with dots", get(`/x/..${balance}`), "404 not_found"],
  ["a path with backslashes", get("/v1\\transactions\\balance"), "404 not_found"],
  ["a path with encoded slashes", get(balance.replaceAll("/", "%2f").replace("%2f", "/")), "404 not_found"],
  ["a path with NUL", get(`${balance}\0`), "400 malformed"],
  ["a path with an encoded NUL", get(`${balance}%00`), "404 not_found"],
  ["a path that is not UTF-8", get("/v1/transactions/deposits/%ff"), "404 not_found"],
  ["a path with a space", get("/v1/trans actions"), "400 malformed"],
  ["no path", get("*"), "404 not_found"],
  ["no path after a host", get("http://pay.example.com"), "404 not_found"],

  ["a compressed body", invoice([length, "Content-Encoding: gzip"]), "415 unsupported_media_type"],
  [
    "a body compressed twice",
    invoice([length, "Content-Encoding: identity, br"]),
    "415 unsupported_media_type"
  ],
  [
    "a body with a compressed transfer encoding",
    invoice(["Transfer-Encoding: gzip, chunked"], "0\r\n\r\n"),
    "415 unsupported_media_type"
  ],
  ["a body that is too large", invoice(["Content-Length: 70000"], " ".repeat(70_000)), "413 body_too_large"],
  [
    "a chunked body that is too large",
    invoice(["Transfer-Encoding: chunked"], chunked(" ".repeat(70_000))),
    "413 body_too_large"
  ],
  [
    "an unused chunked body that is too large",
    wire(`GET ${balance} HTTP/1.1`, [host, key, "Transfer-Encoding: chunked"], chunked(" ".repeat(70_000))),
    "413 body_too_large"
  ],
  ["an incomplete body", invoice(["Content-Length: 12"], `{"metadata":`), "400 malformed"],
  ["a body with the identity encoding", invoice([length, "Content-Encoding: identity"]), "201"],
  ["two content types", invoice([length, "Content-Type: text/plain"]), "400 malformed content-type"],
  [
    "two Idempotency-Keys",
    invoice([length, "Idempotency-Key: a", "Idempotency-Key: b"]),
    "400 malformed idempotency-key"
  ],
  ["two content lengths", invoice([length, "Content-Length: 1"]), "400 malformed"],
  ["the same content length twice", invoice([length, length]), "400 malformed"],
  ["a list of content lengths", invoice([`${length}, ${body.length}`]), "400 malformed"],
  ["a content length with a sign", invoice([`Content-Length: +${body.length}`]), "400 malformed"],
  [
    "Content-Length and chunked encoding",
    invoice([length, "Transfer-Encoding: chunked"], "0\r\n\r\n"),
    "400 malformed"
  ],
  [
    "a body that is chunked twice",
    invoice(["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], "0\r\n\r\n"),
    "400 malformed"
  ],
  ["a transfer encoding that is not chunked", invoice(["Transfer-Encoding: identity"]), "400 malformed"],
  ["a space before a colon", invoice([`Content-Length : ${body.length}`]), "400 malformed"],

  ["NUL in a header", get(balance, [host, key, "X: a\0b"]), "400 malformed"],
  [
    "the maximum number of headers",
    get(balance, [host, key, ...Array.from({ length: Listener.maxHeaders - 4 }, () => "X: a")]),
    "200"
  ],
  [
    "more than the maximum number of headers",
    get(balance, [host, key, ...Array.from({ length: Listener.maxHeaders }, () => "X: a")]),
    "431 headers_too_large"
  ],
  ["lines without CR", get(balance).replaceAll("\r", ""), "400 malformed"],
  ["an unsupported version of HTTP", get(balance).replace("HTTP/1.1", "HTTP/1.2"), "400 malformed"],
  ["a method in lower case", get(balance).replace("GET", "get"), "400 malformed"],
  [
    "a method in a header",
    wire(`POST ${balance} HTTP/1.1`, [host, key, "X-HTTP-Method-Override: GET"]),
    "405 method_not_allowed"
  ]
]

describe("a request over a connection", () => {
  for (const [what, text, answer] of cases) {
    it(`edge: the response to a request with ${what} is ${answer}`, async () => {
      assert.strictEqual(await refusalOf(text), answer)
    })
  }

  const ids: ReadonlyArray<readonly [what: string, headers: ReadonlyArray<string>, id: RegExp]> = [
    ["a well-formed id is kept", ["X-Request-Id: order-1042"], /^order-1042$/],
    ["surrounding blanks are removed", ["x-request-id: \t order-1042  "], /^order-1042$/],
    ["if there are two ids, neither is kept", ["X-Request-Id: a", "X-Request-Id: b"], /^[0-9a-f]{32}$/],
    ["bytes beyond ASCII are not kept", ["X-Request-Id: \xff"], /^[0-9a-f]{32}$/],
    ["an overlong id is not kept", [`X-Request-Id: ${"x".repeat(8000)}`], /^[0-9a-f]{32}$/]
  ]
  for (const [what, headers, id] of ids) {
    it(`edge: request id: ${what}`, async () => {
      const answer = await answerTo(port, Buffer.from(get("/nowhere", [host, ...headers]), "latin1"))
      const [head = "", body = ""] = answer.split("\r\n\r\n")
      const [, told = "", ...more] = /^x-request-id: (\S+)$/im.exec(head) ?? []
      assert.deepStrictEqual(more, [])
      assert.match(told, id)
      assert.strictEqual(JSON.parse(body).error.request_id, told)
      assert.lengthOf([...head.matchAll(/^x-request-id:/gim)], 1)
    })
  }

  it("edge: a 415 response lists the accepted encoding", async () => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/bitcoin/deposit/lightning-invoice`, {
      method: "POST",
      headers: {
        authorization: key.slice("Authorization: ".length),
        "content-type": "application/json",
        "content-encoding": "gzip"
      },
      body
    })
    assert.deepStrictEqual([response.status, response.headers.get("accept-encoding")], [415, "identity"])
    assert.match(await response.text(), /without Content-Encoding/)
  })

  it("request rates: responses report how many requests a key has left under the server's settings", async () => {
    const answer = await fetch(`http://127.0.0.1:${port}${balance}`, {
      headers: { authorization: `Bearer ${world.keys.right.apiKey}` }
    })
    assert.deepStrictEqual(
      [answer.status, answer.headers.get("ratelimit-policy")],
      [200, '"key";q=6000;w=60, "burst";q=200;w=1']
    )
    assert.match(answer.headers.get("ratelimit") ?? "", /^"key";r=\d+;t=\d+, "burst";r=\d+;t=1$/)
    const stranger = await fetch(`http://127.0.0.1:${port}${balance}`)
    assert.deepStrictEqual(
      [stranger.status, stranger.headers.get("ratelimit-policy")],
      [401, null],
      "requests without a key have no limit here"
    )
  })

  it("edge: a malformed body is rejected and has no effect, even on a route that takes no body", async () => {
    const before = await world.store.look()
    const [listed] = await Raw.ask(
      port,
      Buffer.from(get("/v1/bitcoin/deposit/lightning-address"), "latin1"),
      "GET"
    )
    const { id } = JSON.parse(listed?.text ?? "").data[0]
    const asked = wire(
      `DELETE /v1/bitcoin/deposit/lightning-address/${id} HTTP/1.1`,
      [host, key, "Transfer-Encoding: chunked"],
      "no number\r\n"
    )
    assert.strictEqual(await refusalOf(asked), "400 malformed")
    assert.deepStrictEqual(
      differences(before, await world.store.look()).filter((table) => table !== "audit_entries"),
      []
    )
  })
})
