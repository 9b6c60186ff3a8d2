import { afterAll, assert, describe, it } from "@effect/vitest"
import { start } from "./Service.ts"

const shop = "https://shop.example"
const stranger = "https://stranger.example"
const open = await start({ http: { corsOrigins: [shop, "https://other.example"] } })
const closed = await start()
const wide = await start({ http: { corsOrigins: ["*"], console: true } })
afterAll(() => Promise.all([open.dispose(), closed.dispose(), wide.dispose()]))

const path = "/v1/transactions"
const allowed = "Authorization, Content-Type, Idempotency-Key, X-Request-Id"
const preflight = (service: typeof open, origin: string, to = path) =>
  service.ask("OPTIONS", to, {
    headers: {
      origin,
      "access-control-request-method": "GET",
      "access-control-request-headers": "authorization"
    }
  })
const allowHeaders = ({ headers }: { readonly headers: Headers }) =>
  [...headers.keys()].filter((name) => name.startsWith("access-control-"))

describe("a browser on an allowed origin", () => {
  it("CORS: a preflight request from an allowed origin returns methods and headers", async () => {
    const { status, headers } = await preflight(open, shop)
    assert.deepStrictEqual(
      [
        status,
        headers.get("access-control-allow-origin"),
        headers.get("access-control-allow-methods"),
        headers.get("access-control-allow-headers"),
        headers.get("vary")
      ],
      [200, shop, "GET, HEAD, OPTIONS", allowed, "Origin"]
    )
    assert.include(
      (await preflight(open, shop, "/v1/bitcoin/withdraw/confirm")).headers.get(
        "access-control-allow-methods"
      ),
      "POST"
    )
  })

  it("CORS: an allowed origin may read the body and the relevant headers of every response, including errors", async () => {
    const { key } = await open.company()
    for (const [to, ask, status] of [
      [path, { key }, 200],
      [path, {}, 401],
      ["/nowhere", {}, 404],
      [`${path}?x=1`, { key }, 400]
    ] as const) {
      const { status: got, headers } = await open.ask("GET", to, { ...ask, headers: { origin: shop } })
      assert.deepStrictEqual(
        [got, headers.get("access-control-allow-origin"), headers.get("access-control-expose-headers")],
        [status, shop, "Link, Idempotency-Replayed, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"]
      )
    }
  })
})

describe("a browser on another origin", () => {
  for (const [what, service, origin] of [
    ["not on the list", open, stranger],
    ["that only begins with an allowed origin", open, `${shop}.evil.example`],
    ["with no allow list", closed, shop],
    ["null", open, "null"]
  ] as const) {
    it(`CORS: an origin ${what} gets a response, but no permission to read it`, async () => {
      for (const answer of [
        await preflight(service, origin),
        await service.ask("GET", path, { headers: { origin } })
      ]) {
        assert.deepStrictEqual(allowHeaders(answer), [])
        assert.isObject(answer.body)
      }
    })
  }
})

it("CORS: if all origins are allowed (*), each is allowed by name, but never with cookies or the header that a session requires", async () => {
  const { headers } = await preflight(wide, stranger)
  assert.strictEqual(headers.get("access-control-allow-origin"), stranger)
  assert.isNull(headers.get("access-control-allow-credentials"))
  assert.strictEqual(headers.get("access-control-allow-headers"), allowed)
})

it("CORS: caches must not share responses between origins", async () => {
  for (const headers of [{}, { origin: shop }, { origin: stranger }])
    assert.strictEqual((await open.ask("GET", path, { headers })).headers.get("vary"), "Origin")
})

it("CORS: OPTIONS without an origin lists the methods, and returns 404 for an unknown path", async () => {
  const { status, headers, body } = await closed.ask("OPTIONS", "/v1/bitcoin/withdraw/confirm")
  assert.deepStrictEqual(
    [status, headers.get("allow"), body.data],
    [200, "OPTIONS, POST", { methods: ["OPTIONS", "POST"] }]
  )
  const nowhere = await closed.ask("OPTIONS", "/nowhere")
  assert.deepStrictEqual([nowhere.status, nowhere.body.error?.code], [404, "not_found"])
})
