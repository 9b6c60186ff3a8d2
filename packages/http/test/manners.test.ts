import { afterAll, assert, describe, it } from "@effect/vitest"
import { Transactions } from "@satrail/core/reports/Transactions"
import { Context, Effect, Layer, Logger, References } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { catalogue } from "../src/features/Catalogue.ts"
import * as Extension from "../src/edge/Extension.ts"
import { operatorToken, start } from "./Service.ts"

// How an error is met by whoever gets it: by what it is found again, where it is explained, and what it says would be right.

const made = /^[0-9a-f]{32}$/
const service = await start()
afterAll(service.dispose)
const { key } = await service.company("paid")
const balance = "/v1/transactions/balance"
const invoicePath = "/v1/bitcoin/deposit/lightning-invoice"

describe("a request's id", () => {
  it("request id: every answer has one, and no two have the same", async () => {
    const asked = [
      service.ask("GET", balance, { key }),
      service.ask("POST", invoicePath, { key, body: { amount: 1, currency: "sats" } }),
      service.ask("GET", "/docs"),
      service.ask("GET", "/lnurlp/pay.example.com/nobody"),
      service.ask("OPTIONS", balance),
      service.ask("GET", balance),
      service.ask("GET", "/nowhere"),
      service.ask("DELETE", balance),
      service.ask("POST", invoicePath, { key, body: "{" }),
      service.ask("POST", invoicePath, { key, body: " ".repeat(70_000) })
    ]
    const answers = await Promise.all(asked)
    const ids = answers.map(({ headers }) => headers.get("x-request-id") ?? "none")
    for (const id of ids) assert.match(id, made)
    assert.strictEqual(new Set(ids).size, asked.length)
    for (const [at, { status, body }] of answers.entries()) if (status >= 400) assert.strictEqual(body?.error?.request_id, ids[at])
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      [200, 201, 200, 200, 200, 401, 404, 405, 400, 413]
    )
  })

  const kept = [
    "a",
    "9f0d1c1e-52a5-4f7c-8f43-0b8f6a6c1042",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "Root=1-67891233-abcdef012345678912345678",
    "a+b/c==",
    "x".repeat(128)
  ]
  for (const id of kept) {
    it(`request id: ${id.slice(0, 40)} is kept, in the header and in an error`, async () => {
      const headers = { "x-request-id": id }
      assert.strictEqual((await service.ask("GET", balance, { key, headers })).headers.get("x-request-id"), id)
      const refused = await service.ask("GET", "/nowhere", { headers })
      assert.deepStrictEqual([refused.headers.get("x-request-id"), refused.body.error?.request_id], [id, id])
    })
  }

  for (const id of ["", "x".repeat(129), "a b", "a,b", "a;b", '"a"', "<a>", "{}", "a\tb", "é", "a\\b", "%41"]) {
    it(`request id: ${JSON.stringify(id.slice(0, 20))} is not well-formed: another is made`, async () => {
      const { headers, body } = await service.ask("GET", "/nowhere", { headers: { "x-request-id": id } })
      assert.match(headers.get("x-request-id") ?? "", made)
      assert.strictEqual(body.error?.request_id, headers.get("x-request-id"))
    })
  }

  it("request id: pages of other origins may send it and read it", async () => {
    const shop = await start({ http: { corsOrigins: ["https://shop.example"] } })
    const headers = { origin: "https://shop.example" }
    assert.include((await shop.ask("OPTIONS", balance, { headers })).headers.get("access-control-allow-headers") ?? "", "X-Request-Id")
    assert.include((await shop.ask("GET", balance, { headers })).headers.get("access-control-expose-headers") ?? "", "X-Request-Id")
    await shop.dispose()
  })

  it("request id: every line that is logged for a request has it, beside a host's own annotations, and none of another request's", async () => {
    const balanceOf = () =>
      Effect.logWarning("looked").pipe(Effect.andThen(Effect.yieldNow), Effect.andThen(Effect.die(new Error("broken"))))
    const never = () => Effect.die("not asked for here")
    const instead = Transactions.of({ balance: balanceOf, deposit: never, callback: never, withdrawal: never, list: never })
    const page = HttpRouter.add("GET", "/page", Effect.as(Effect.logInfo("shown"), HttpServerResponse.text("page")))
    // The log of what surrounds requests, where an extension's goes.
    const outside: Array<string> = []
    const logger = Logger.make(({ message, fiber }) => {
      outside.push(`${JSON.stringify(message)} ${JSON.stringify(fiber.getRef(References.CurrentLogAnnotations))}`)
    })
    const host = await start({
      http: { extensions: [Extension.make(page)] },
      instead: Context.make(Transactions, instead),
      around: Layer.merge(Layer.succeed(References.CurrentLogAnnotations, { host: "till" }), Logger.layer([logger]))
    })
    const { key } = await host.company()
    const before = host.logged.length
    const ask = (path: string, id: string) => host.ask("GET", path, { key, headers: { "x-request-id": id } })
    await Promise.all([ask(balance, "one"), ask("/page", "two"), ask(balance, "three")])
    const lines = [...outside, ...host.logged.slice(before)]
    const by = (id: string) => lines.filter((line) => line.endsWith(` ${JSON.stringify({ host: "till", request_id: id })}`))
    assert.deepStrictEqual(
      by("two").map((line) => line.slice(0, 9)),
      ['["shown"]']
    )
    for (const id of ["one", "three"]) {
      const [looked = "", crashed = "", ...more] = by(id)
      assert.deepStrictEqual([looked.slice(0, 10), more], ['["looked"]', []])
      assert.match(crashed, /^\["request: crashed",/)
    }
    assert.lengthOf(lines, 5)
    await host.dispose()
  })
})

describe("where an error is explained", () => {
  it("doc_url: leads to the explanation of the code, on a page of the service itself", async () => {
    const { body } = await service.ask("GET", balance)
    assert.strictEqual(body.error?.doc_url, "/docs/errors#unauthorized")
    const [path = ""] = body.error?.doc_url?.split("#") ?? []
    const page = await service.ask("GET", path)
    assert.deepStrictEqual([page.status, page.headers.get("content-type")], [200, "text/html; charset=utf-8"])
    assert.match(page.headers.get("content-security-policy") ?? "", /default-src 'none'/)
    for (const [code, { status }] of Object.entries(catalogue))
      assert.include(page.text, `<h2 id="${code}"><code>${code}</code> (${status})</h2>`)
  })

  it("doc_url: begins with the service's public URL where that is known", async () => {
    const known = await start({ http: { publicUrl: "https://pay.example.com/btc" } })
    const { body } = await known.ask("GET", "/nowhere")
    assert.strictEqual(body.error?.doc_url, "https://pay.example.com/btc/docs/errors#not_found")
    await known.dispose()
  })

  it("doc_url: an error of a host's own, and one in LNURL's shape, stay as they are", async () => {
    const own = { status: 409, error: { code: "sold_out" } }
    const host = await start({
      http: {
        extensions: [Extension.make(HttpRouter.add("GET", "/own", Effect.succeed(HttpServerResponse.jsonUnsafe(own, { status: 409 }))))]
      }
    })
    assert.deepStrictEqual<unknown>((await host.ask("GET", "/own")).body, own)
    assert.deepStrictEqual<unknown>(Object.keys((await host.ask("GET", "/lnurlp/pay.example.com/nobody")).body), ["status", "reason"])
    await host.dispose()
  })
})

describe("what an error says would be right", () => {
  const confirm = "/v1/bitcoin/withdraw/confirm"
  const issuesOf = async (path: string, body: unknown) => (await service.ask("POST", path, { key, body })).body.error?.issues ?? []

  const members: ReadonlyArray<readonly [given: string, near: string]> = [
    ["metdata", "metadata"],
    ["meta", "metadata"],
    ["Amount", "amount"],
    ["expirySeconds", "expiry_seconds"],
    ["desciption", "description"],
    ["expires_seconds", "expiry_seconds"]
  ]
  for (const [given, near] of members) {
    it(`unknown member: ${given}: did you mean ${near}?`, async () => {
      const issues = await issuesOf(invoicePath, { amount: 1, currency: "sats", [given]: 1 })
      assert.deepStrictEqual(issues, [{ path: given, message: `Unknown here: did you mean ${near}?` }])
    })
  }

  it("unknown member: each has its own suggestion, and one that is near to nothing has none", async () => {
    const issues = await issuesOf(confirm, { destinaton: "a@b.example", curency: "sats", amount: 1, colour: "red", x: 1 })
    const said = issues.map(({ path, message }) => `${path} ${message}`)
    for (const one of [
      "destinaton Unknown here: did you mean destination?",
      "curency Unknown here: did you mean currency?",
      "colour Unknown here",
      "x Unknown here",
      "destination Missing"
    ])
      assert.include(said, one)
  })

  it("unknown member: a body that may be left out has suggestions too", async () => {
    const issues = await issuesOf("/v1/bitcoin/deposit/lightning-address", { handel: "shop" })
    assert.deepStrictEqual(issues, [{ path: "handel", message: "Unknown here: did you mean handle?" }])
  })

  it("unknown parameter: has a suggestion, or is told that there are none", async () => {
    const asked = async (path: string) => (await service.ask("GET", path, { key })).body.error?.issues
    assert.deepStrictEqual(await asked("/v1/transactions?limits=1"), [{ path: "limits", message: "Unknown here: did you mean limit?" }])
    assert.deepStrictEqual(await asked("/v1/transactions?unti=x"), [{ path: "unti", message: "Unknown here: did you mean until?" }])
    assert.deepStrictEqual(await asked(`${balance}?limit=1`), [{ path: "limit", message: "Unknown here: there are no parameters" }])
  })

  it("unknown member: one that is long, and may be a secret in the wrong place, is not repeated", async () => {
    const [issue] = await issuesOf(invoicePath, { amount: 1, currency: "sats", [key]: 1 })
    assert.deepStrictEqual(issue, { path: `${key.slice(0, 8)}…`, message: "Unknown here" })
  })

  const broken: ReadonlyArray<readonly [text: string, line: number, column: number, offset: number]> = [
    ['{"amount":1,}', 1, 13, 12],
    ["{amount:1}", 1, 2, 1],
    ['{"amount":1', 1, 12, 11],
    ['{\n  "amount": 01,\n  "currency": "sats"\n}', 2, 14, 15],
    ['{"description":"₿🟠\n"}', 1, 19, 18],
    ["amount=1", 1, 1, 0],
    ['{"amount":1}}', 1, 13, 12]
  ]
  for (const [text, line, column, offset] of broken) {
    it(`JSON: ${JSON.stringify(text)} has its first wrong character at line ${line}, column ${column}, and nothing of it is repeated`, async () => {
      const { status, body } = await service.ask("POST", invoicePath, { key, body: text })
      const [issue, ...more] = body.error?.issues ?? []
      assert.deepStrictEqual([status, body.error?.code, issue?.path, more], [400, "malformed", "", []])
      assert.deepStrictEqual(issue?.place, { line, column, offset })
      const where = `line ${line}, column ${column}`
      assert.strictEqual(
        issue?.message,
        `The body must be JSON, and ${offset === [...text].length ? `ends too early, at ${where}` : `is not, from ${where}`}`
      )
    })
  }

  it("insufficient_balance: says what there is and what would be needed, in words and in numbers", async () => {
    const poor = await service.company("paid")
    await service.fund(poor.key, 1000)
    const { destination } = await service.sandbox((one) => one.destination({ type: "lightning_address" }))
    const estimate = await service.ask("POST", "/v1/bitcoin/withdraw/estimate", {
      key: poor.key,
      body: { destination, amount: 1000, currency: "sats" }
    })
    const needed = 1000 + estimate.body.data.service_fee_sats
    const { status, body } = await service.ask("POST", confirm, { key: poor.key, body: { destination, amount: 1000, currency: "sats" } })
    assert.deepStrictEqual([status, body.error?.code], [422, "insufficient_balance"])
    assert.deepStrictEqual([body.error?.available_sats, body.error?.needed_sats], [1000, needed])
    assert.strictEqual(body.message, `The balance does not cover the ${needed} sats that amount and fee come to: 1000 sats are available`)
    const voucher = await service.ask("POST", "/v1/vouchers", { key: poor.key, body: { amount: 1000, currency: "sats" } })
    assert.deepStrictEqual([voucher.status, voucher.body.error?.available_sats], [422, 1000])
    assert.isAbove(voucher.body.error?.needed_sats ?? 0, 1000)
  })
})

describe("the wrong kind of key", () => {
  const mainnet = "sr_mainnet_7Kq2mVx9TbZc_5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVq"
  const own = mainnet.replace("mainnet", "regtest")
  const wrong: Readonly<Record<string, readonly [authorization: string | undefined, message: RegExp]>> = {
    "no header": [undefined, /^An API key is needed: Authorization: Bearer <API_KEY>$/],
    "nothing after Bearer": ["Bearer ", /^An API key is needed/],
    "an unknown key": [`Bearer ${own}`, /^The API key is unknown$/],
    "a key of mainnet": [
      `Bearer ${mainnet}`,
      /^The API key is for mainnet, and this service is on regtest: use a key that begins with sr_regtest_$/
    ],
    "a key of a network that there is not": [
      `Bearer ${mainnet.replace("mainnet", "moonnet")}`,
      /^The API key is not complete, or has a typing error/
    ],
    "half a key": [`Bearer ${own.slice(0, 30)}`, /^The API key is not complete, or has a typing error/],
    "an operator's token by its look": ["Bearer op_1234", /^This is the operator's token, which opens \/operator and never \/v1/],
    "the operator's token": [`Bearer ${operatorToken}`, /^This is the operator's token/],
    "another service's key": ["Bearer sk_live_123", /^The API key is unknown$/],
    "a key without Bearer": [own, /^The Authorization header is not a bearer's: write `Bearer`, a space, and then the key$/],
    "a key as a password": [`Basic ${btoa(`user:${own}`)}`, /^The Authorization header is not a bearer's/]
  }
  for (const [what, [authorization, message]] of Object.entries(wrong)) {
    it(`key: ${what}: 401, and what would be right`, async () => {
      const answer = await service.ask("GET", balance, authorization === undefined ? {} : { headers: { authorization } })
      assert.deepStrictEqual([answer.status, answer.body.error?.code], [401, "unauthorized"])
      assert.match(answer.body.message, message)
      for (const secret of [own.slice(24, 40), "sk_live", "op_1234", operatorToken]) assert.notInclude(answer.text, secret)
    })
  }

  it("key: an API key at the operator's routes: 401, and what would be right", async () => {
    for (const given of [key, mainnet, `  ${own}`]) {
      const { status, body, text } = await service.ask("POST", "/operator/companies", { key: given, body: { name: "a", plan: "free" } })
      assert.strictEqual(status, 401)
      assert.match(body.message, /^This is an API key, which opens \/v1 and never \/operator\. The operator's token is needed/)
      assert.notInclude(text, given.slice(-20))
    }
    const other = await service.ask("POST", "/operator/companies", { key: "op_1", body: { name: "a", plan: "free" } })
    assert.match(other.body.message, /^The operator's token is needed/)
  })

  it("key: where the operator's routes are closed, their refusal is the same", async () => {
    const closed = await start({ operatorToken: undefined })
    const { status, body } = await closed.ask("POST", "/operator/companies", { key: "op_1", body: { name: "a", plan: "free" } })
    assert.deepStrictEqual([status, body.error?.code], [401, "unauthorized"])
    assert.match(body.message, /^The operator's token is needed/)
    await closed.dispose()
  })
})
