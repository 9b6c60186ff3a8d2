import { afterAll, assert, describe, it } from "@effect/vitest"
import { Transactions } from "@satrail/core/reports/Transactions"
import { Context, Effect, Layer, Logger, References } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { catalogue } from "@satrail/service/http/pages/Catalogue"
import * as Extension from "../src/edge/Extension.ts"
import { operatorToken, start } from "./Service.ts"

// The parts of an error that help its reader: a request id, a link to its documentation, and the expected
// value.

const made = /^[0-9a-f]{32}$/
const service = await start()
afterAll(service.dispose)
const { key } = await service.company("paid")
const balance = "/v1/transactions/balance"
const invoicePath = "/v1/bitcoin/deposit/lightning-invoice"

describe("request ids", () => {
  it("request id: every response has a request id, and no two responses have the same id", async () => {
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
    for (const [at, { status, body }] of answers.entries())
      if (status >= 400) assert.strictEqual(body?.error?.request_id, ids[at])
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
    it(`request id: ${id.slice(0, 40)} is kept in the header and in errors`, async () => {
      const headers = { "x-request-id": id }
      assert.strictEqual(
        (await service.ask("GET", balance, { key, headers })).headers.get("x-request-id"),
        id
      )
      const refused = await service.ask("GET", "/nowhere", { headers })
      assert.deepStrictEqual([refused.headers.get("x-request-id"), refused.body.error?.request_id], [id, id])
    })
  }

  for (const id of [
    "",
    "x".repeat(129),
    "a b",
    "a,b",
    "a;b",
    '"a"',
    "<a>",
    "{}",
    "a\tb",
    "é",
    "a\\b",
    "%41"
  ]) {
    it(`request id: ${JSON.stringify(id.slice(0, 20))} is malformed and is replaced`, async () => {
      const { headers, body } = await service.ask("GET", "/nowhere", { headers: { "x-request-id": id } })
      assert.match(headers.get("x-request-id") ?? "", made)
      assert.strictEqual(body.error?.request_id, headers.get("x-request-id"))
    })
  }

  it("request id: every log line of a request has the id, and no other annotations except the application's", async () => {
    const balanceOf = () =>
      Effect.logWarning("looked").pipe(
        Effect.andThen(Effect.yieldNow),
        Effect.andThen(Effect.die(new Error("broken")))
      )
    const never = () => Effect.die("not called in this test")
    const instead = Transactions.of({
      balance: balanceOf,
      deposit: never,
      callback: never,
      withdrawal: never,
      list: never
    })
    const page = HttpRouter.add(
      "GET",
      "/page",
      Effect.as(Effect.logInfo("shown"), HttpServerResponse.text("page"))
    )
    // The logger of the embedding application, to which an extension writes.
    const outside: Array<string> = []
    const logger = Logger.make(({ message, fiber }) => {
      outside.push(
        `${JSON.stringify(message)} ${JSON.stringify(fiber.getRef(References.CurrentLogAnnotations))}`
      )
    })
    const host = await start({
      http: { extensions: [Extension.make(page)] },
      instead: Context.make(Transactions, instead),
      around: Layer.merge(
        Layer.succeed(References.CurrentLogAnnotations, { host: "till" }),
        Logger.layer([logger])
      )
    })
    const { key } = await host.company()
    const before = host.logged.length
    const ask = (path: string, id: string) => host.ask("GET", path, { key, headers: { "x-request-id": id } })
    await Promise.all([ask(balance, "one"), ask("/page", "two"), ask(balance, "three")])
    const lines = [...outside, ...host.logged.slice(before)]
    const by = (id: string) =>
      lines.filter((line) => line.endsWith(` ${JSON.stringify({ host: "till", request_id: id })}`))
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

describe("links to explanations of errors", () => {
  it("doc_url: the URL links to the explanation of the error code, on a page served by this service", async () => {
    const { body } = await service.ask("GET", balance)
    assert.strictEqual(body.error?.doc_url, "/docs/errors#unauthorized")
    const [path = ""] = body.error?.doc_url?.split("#") ?? []
    const page = await service.ask("GET", path)
    assert.deepStrictEqual([page.status, page.headers.get("content-type")], [200, "text/html; charset=utf-8"])
    assert.match(page.headers.get("content-security-policy") ?? "", /default-src 'none'/)
    for (const [code, { status }] of Object.entries(catalogue))
      assert.include(page.text, `<h2 id="${code}"><code>${code}</code> (${status})</h2>`)
  })

  it("doc_url: the URL starts with the service's public URL if that is set", async () => {
    const known = await start({ http: { publicUrl: "https://pay.example.com/btc" } })
    const { body } = await known.ask("GET", "/nowhere")
    assert.strictEqual(body.error?.doc_url, "https://pay.example.com/btc/docs/errors#not_found")
    await known.dispose()
  })

  it("doc_url: an application's own errors and LNURL errors have no doc_url", async () => {
    const own = { status: 409, error: { code: "sold_out" } }
    const host = await start({
      http: {
        extensions: [
          Extension.make(
            HttpRouter.add("GET", "/own", Effect.succeed(HttpServerResponse.jsonUnsafe(own, { status: 409 })))
          )
        ]
      }
    })
    assert.deepStrictEqual<unknown>((await host.ask("GET", "/own")).body, own)
    assert.deepStrictEqual<unknown>(
      Object.keys((await host.ask("GET", "/lnurlp/pay.example.com/nobody")).body),
      ["status", "reason"]
    )
    await host.dispose()
  })
})

describe("suggestions in errors", () => {
  const confirm = "/v1/bitcoin/withdraw/confirm"
  const issuesOf = async (path: string, body: unknown) =>
    (await service.ask("POST", path, { key, body })).body.error?.issues ?? []

  const members: ReadonlyArray<readonly [given: string, near: string]> = [
    ["metdata", "metadata"],
    ["meta", "metadata"],
    ["Amount", "amount"],
    ["expirySeconds", "expiry_seconds"],
    ["desciption", "description"],
    ["expires_seconds", "expiry_seconds"]
  ]
  for (const [given, near] of members) {
    it(`unknown member: the error for ${given} suggests ${near}`, async () => {
      const issues = await issuesOf(invoicePath, { amount: 1, currency: "sats", [given]: 1 })
      assert.deepStrictEqual(issues, [
        { path: given, message: `unknown field "${given}": did you mean "${near}"?` }
      ])
    })
  }

  it("unknown member: each unknown field has its own suggestion, and a field without a close match has none", async () => {
    const issues = await issuesOf(confirm, {
      destinaton: "a@b.example",
      curency: "sats",
      amount: 1,
      colour: "red",
      x: 1
    })
    const said = issues.map(({ message }) => message)
    for (const one of [
      'unknown field "destinaton": did you mean "destination"?',
      'unknown field "curency": did you mean "currency"?',
      'unknown field "colour"',
      'unknown field "x"',
      "destination is required"
    ])
      assert.include(said, one)
  })

  it("unknown member: the error for an optional body has suggestions too", async () => {
    const issues = await issuesOf("/v1/bitcoin/deposit/lightning-address", { handel: "shop" })
    assert.deepStrictEqual(issues, [
      { path: "handel", message: 'unknown field "handel": did you mean "handle"?' }
    ])
  })

  it("unknown parameter: the error suggests a similar name, or says that there are no parameters", async () => {
    const asked = async (path: string) => (await service.ask("GET", path, { key })).body.error?.issues
    assert.deepStrictEqual(await asked("/v1/transactions?limits=1"), [
      { path: "limits", message: 'unknown parameter "limits": did you mean "limit"?' }
    ])
    assert.deepStrictEqual(await asked("/v1/transactions?unti=x"), [
      { path: "unti", message: 'unknown parameter "unti": did you mean "until"?' }
    ])
    assert.deepStrictEqual(await asked("/v1/transactions?page=2"), [
      {
        path: "page",
        message: 'unknown parameter "page": use "cursor", which is in the Link header of the previous page'
      }
    ])
    for (const [name, ours] of [
      ["per_page", "limit"],
      ["created_after", "from"],
      ["to", "until"]
    ] as const)
      assert.deepStrictEqual(await asked(`/v1/transactions?${name}=2`), [
        { path: name, message: `unknown parameter "${name}": did you mean "${ours}"?` }
      ])
    assert.deepStrictEqual(await asked(`${balance}?limit=1`), [
      { path: "limit", message: 'unknown parameter "limit": this endpoint has none' }
    ])
  })

  for (const path of ["/v1/bitcoin/deposit/lightning-invoice", "/v1/checkouts", "/v1/vouchers", confirm])
    it(`amounts: ${path} rejects an amount with more decimals than its currency has`, async () => {
      const issues = await issuesOf(path, {
        amount: 12.505,
        currency: "EUR",
        ...(path === confirm && { destination: "a@b.example" })
      })
      assert.deepStrictEqual(
        issues.filter((issue) => issue.path === "amount"),
        [{ path: "amount", message: "amount must have at most 2 decimals in eur (got 12.505)" }]
      )
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
    it(`JSON: ${JSON.stringify(text)} fails at line ${line}, column ${column}, and the error repeats no part of the text`, async () => {
      const { status, body } = await service.ask("POST", invoicePath, { key, body: text })
      const [issue, ...more] = body.error?.issues ?? []
      assert.deepStrictEqual([status, body.error?.code, issue?.path, more], [400, "malformed", "", []])
      assert.deepStrictEqual(issue?.place, { line, column, offset })
      const where = `line ${line}, column ${column}`
      assert.strictEqual(
        issue?.message,
        `The body is not valid JSON: ${offset === [...text].length ? "it ends too early, at" : "the error is at"} ${where}`
      )
    })
  }

  it("insufficient_balance: an estimate succeeds, and the error of confirm states the available and the required amount, in its message and as numbers", async () => {
    const poor = await service.company("paid")
    await service.fund(poor.key, 1000)
    const { destination } = await service.sandbox((one) => one.destination({ type: "lightning_address" }))
    const estimate = await service.ask("POST", "/v1/bitcoin/withdraw/estimate", {
      key: poor.key,
      body: { destination, amount: 1000, currency: "sats" }
    })
    const needed = 1000 + estimate.body.data.service_fee_sats
    const { status, body } = await service.ask("POST", confirm, {
      key: poor.key,
      body: { destination, amount: 1000, currency: "sats" }
    })
    assert.deepStrictEqual([status, body.error?.code], [422, "insufficient_balance"])
    assert.deepStrictEqual([body.error?.available_sats, body.error?.needed_sats], [1000, needed])
    assert.strictEqual(
      body.message,
      `Insufficient balance: the amount plus fee is ${needed} sats, and 1000 sats are available.`
    )
    const voucher = await service.ask("POST", "/v1/vouchers", {
      key: poor.key,
      body: { amount: 1000, currency: "sats" }
    })
    assert.deepStrictEqual([voucher.status, voucher.body.error?.available_sats], [422, 1000])
    assert.isAbove(voucher.body.error?.needed_sats ?? 0, 1000)
  })
})

describe("keys of the wrong type", () => {
  const mainnet = "sr_mainnet_7Kq2mVx9TbZc_5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVq"
  const own = mainnet.replace("mainnet", "regtest")
  const wrong: Readonly<Record<string, readonly [authorization: string | undefined, message: RegExp]>> = {
    "no header": [undefined, /^No API key was sent. Send "Authorization: Bearer <API_KEY>".$/],
    "nothing after Bearer": ["Bearer ", /^No API key was sent/],
    "an unknown key": [
      `Bearer ${own}`,
      /^This API key is not valid\. Check that you copied the whole key\.$/
    ],
    "a key for mainnet": [
      `Bearer ${mainnet}`,
      /^This API key is for mainnet, but this service runs on regtest\. Use a key that begins with sr_regtest_\.$/
    ],
    "a key for an unknown network": [
      `Bearer ${mainnet.replace("mainnet", "moonnet")}`,
      /^This API key is malformed/
    ],
    "half a key": [`Bearer ${own.slice(0, 30)}`, /^This API key is malformed/],
    "a value with the prefix of an operator token": [
      "Bearer op_1234",
      /^This is an operator token, which is valid only for \/operator\./
    ],
    "the operator's token": [
      `Bearer ${operatorToken}`,
      /^This is an operator token, which is valid only for/
    ],
    "another service's key": [
      "Bearer sk_live_123",
      /^This API key is not valid\. Check that you copied the whole key\.$/
    ],
    "a key without Bearer": [
      own,
      /^The Authorization header does not use the Bearer scheme\. Send `Bearer`, a space and the key\.$/
    ],
    "a key as a password": [
      `Basic ${btoa(`user:${own}`)}`,
      /^The Authorization header does not use the Bearer scheme/
    ]
  }
  for (const [what, [authorization, message]] of Object.entries(wrong)) {
    it(`key: ${what} returns 401, and the error says how to send a valid key`, async () => {
      const answer = await service.ask(
        "GET",
        balance,
        authorization === undefined ? {} : { headers: { authorization } }
      )
      assert.deepStrictEqual([answer.status, answer.body.error?.code], [401, "unauthorized"])
      assert.match(answer.body.message, message)
      for (const secret of [own.slice(24, 40), "sk_live", "op_1234", operatorToken])
        assert.notInclude(answer.text, secret)
    })
  }

  it("key: an API key on an operator route returns 401, and the error says that an operator token is required", async () => {
    for (const given of [key, mainnet, `  ${own}`]) {
      const { status, body, text } = await service.ask("POST", "/operator/companies", {
        key: given,
        body: { name: "a", plan: "free" }
      })
      assert.strictEqual(status, 401)
      assert.match(
        body.message,
        /^This is an API key, which is valid only for \/v1\. A valid operator token is required/
      )
      assert.notInclude(text, given.slice(-20))
    }
    const other = await service.ask("POST", "/operator/companies", {
      key: "op_1",
      body: { name: "a", plan: "free" }
    })
    assert.match(other.body.message, /^A valid operator token is required/)
  })

  it("key: if no operator token is configured, operator routes return the same error as for a wrong token", async () => {
    const closed = await start({ operatorToken: undefined })
    for (const sent of [{}, ...["", "op_1", "undefined", operatorToken].map((key) => ({ key }))]) {
      const { status, body } = await closed.ask("POST", "/operator/companies", {
        ...sent,
        body: { name: "a", plan: "free" }
      })
      assert.deepStrictEqual([status, body.error?.code], [401, "unauthorized"])
      assert.match(body.message, /^A valid operator token is required/)
    }
    await closed.dispose()
  })
})
