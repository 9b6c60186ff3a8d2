import { Records } from "@satrail/core/service/Records"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Makers from "./Makers.ts"
import { type Ask, bad, issuePaths, operatorToken, seen, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)

const company = await service.company("paid")
const keys = {
  read: await service.keyFor(company.id, "read"),
  receive: await service.keyFor(company.id, "receive"),
  send: await service.keyFor(company.id, "send")
}
await service.fund(company.key, 500_000)
const { id: otherId } = await service.company()
const { destination } = await service.sandbox((sandbox) => sandbox.destination({ type: "lightning_address" }))
const withdrawal = { amount: 1000, currency: "sats", destination }
const { operations, makerOf } = await Makers.read(service)

/** The methods that the documents list for a path. */
const allowAt = (path: string): string => {
  const methods = operations.flatMap((one) => (one.path === path ? [one.method] : []))
  return [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].toSorted().join(", ")
}

interface Endpoint {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly status: 200 | 201
  /** The endpoint accepts any one of these scopes. */
  readonly scopes: ReadonlyArray<keyof typeof keys>
  /** A valid body, if the endpoint reads one. */
  readonly body?: Record<string, unknown>
  readonly bodyIsOptional?: true
  /** Required fields. */
  readonly required?: ReadonlyArray<string>
  /** Invalid values for each field. */
  readonly wrong?: Record<string, ReadonlyArray<unknown>>
  /** Allowed methods of the path. */
  readonly allow: string
}

const metadata = [1, "x", [], { a: 1 }, { a: null }, { a: { b: "c" } }]
const notText = [1, true, [], {}]
const notANumber = ["1", true, [], {}]
const wrongWithdrawal = {
  amount: [...notANumber, 0, -1, 0.5, 1e300, 21_000_001e8],
  currency: [...notText, "", "doge", "s ats"],
  destination: [...notText, null, "", " ", "x".repeat(5000), "nobody"]
}
const priced = { amount: 21, currency: "sats", description: "x", expiry_seconds: 60, metadata: { a: "b" } }
const wrongPriced = (maxExpirySeconds: number) => ({
  amount: [...notANumber, 0, -1, 21.5, 1e300],
  currency: [...notText, "", "doge"],
  description: [...notText, "x".repeat(640), "ü".repeat(320), "\0", "\ud800"],
  expiry_seconds: [...notANumber, 59, 60.5, maxExpirySeconds + 1, -1],
  metadata
})
const nullable = (wrong: ReturnType<typeof wrongPriced>) => ({
  ...wrong,
  amount: [...wrong.amount, null],
  currency: [...wrong.currency, null]
})

/** Endpoints that read a list or one record, which the first request creates. */
const reads = async (path: string, scopes: Endpoint["scopes"] = ["read"]): Promise<Endpoint> => {
  const make = path.includes("{")
    ? (makerOf(path) ?? assert.fail(`nothing creates a record for ${path}`))
    : undefined
  const target = make === undefined ? path : path.replace(/\{\w+\}/, await make(service, company))
  return { method: "GET", path: target, status: 200, scopes, allow: allowAt(path) }
}
const posts = (
  path: string,
  one: Pick<Endpoint, "scopes" | "body" | "bodyIsOptional" | "required" | "wrong">
): Endpoint => ({
  method: "POST",
  path,
  status: 201,
  allow: allowAt(path),
  ...one
})
const confirms = {
  scopes: ["send"],
  required: ["destination"],
  body: { ...withdrawal, metadata: { a: "b" } },
  wrong: { ...wrongWithdrawal, metadata }
} as const
const deposit = "/v1/bitcoin/deposit"
const depositId = await Makers.deposit(service, company)

/** All endpoints of the API that make or read payments. */
const endpoints: ReadonlyArray<Endpoint> = [
  {
    ...posts("/v1/bitcoin/withdraw/estimate", {
      scopes: ["read", "send"],
      body: withdrawal,
      required: ["destination"],
      wrong: wrongWithdrawal
    }),
    status: 200
  },
  posts(`${deposit}/lightning-invoice`, {
    scopes: ["receive"],
    body: priced,
    required: ["amount", "currency"],
    wrong: nullable(wrongPriced(31_536_000))
  }),
  posts(`${deposit}/lightning-address`, {
    scopes: ["receive"],
    body: {},
    bodyIsOptional: true,
    wrong: {
      handle: [...notText, " ", "a b", ".a", "a.", "a@b", "x".repeat(65), "ü", "\0", "\ud800"],
      domain: [...notText, " ", "localhost", "http://example.com", "a b.com", "127.0.0.1"],
      metadata
    }
  }),
  posts(`${deposit}/on-chain`, {
    scopes: ["receive"],
    body: {},
    bodyIsOptional: true,
    wrong: { address_type: [...notText, "", "legacy", "TAPROOT"], metadata }
  }),
  posts("/v1/vouchers", {
    scopes: ["send"],
    body: priced,
    required: ["amount", "currency"],
    wrong: nullable(wrongPriced(2_592_000))
  }),
  posts("/v1/transfers", {
    scopes: ["send"],
    body: { to: otherId, amount: 21, currency: "sats", description: "x", metadata: { a: "b" } },
    required: ["to", "amount", "currency"],
    wrong: {
      to: [...notText, null, "", "x", company.id],
      amount: [...notANumber, 0, -1, 21.5, 1e300],
      currency: [...notText, "", "doge"],
      description: [...notText, "x".repeat(640), "ü".repeat(320), "\0", "\ud800"],
      metadata
    }
  }),
  posts("/v1/refunds", {
    scopes: ["send"],
    body: { ...priced, deposit_id: depositId },
    wrong: wrongPriced(2_592_000)
  }),
  posts("/v1/bitcoin/withdraw/confirm", confirms),
  posts("/v1/bitcoin/send/confirm", confirms),
  ...(await Promise.all(
    [
      `${deposit}/lightning-invoice`,
      `${deposit}/lightning-invoice/{invoiceID}`,
      `${deposit}/on-chain`,
      `${deposit}/on-chain/{id}`,
      `${deposit}/offer`,
      `${deposit}/offer/{id}`,
      "/v1/vouchers",
      "/v1/vouchers/{id}",
      "/v1/refunds",
      "/v1/refunds/{id}",
      "/v1/transfers",
      "/v1/transfers/{id}",
      "/v1/transactions",
      "/v1/transactions/balance",
      "/v1/transactions/deposits/{depositID}",
      "/v1/transactions/withdrawals/{withdrawalID}"
    ].map((path) => reads(path))
  )),
  await reads("/v1/rates", ["read", "receive", "send"]),
  await reads("/v1/account", ["read", "receive", "send"])
]

/** All events and the company's balance. */
const recorded = () =>
  service.run(
    Effect.gen(function* () {
      const records = yield* Records
      return {
        events: (yield* records.events(0n, 1_000_000)).length,
        balance: yield* records.balance(company.id)
      }
    })
  )

/** Malformed bodies by their defect. Each must return a plain 400. */
const hostile = (good: Record<string, unknown>): Record<string, string> => {
  const rest = Object.entries(good)
    .map(([member, value]) => `,${JSON.stringify(member)}:${JSON.stringify(value)}`)
    .join("")
  return {
    "half a body": "{",
    "no JSON": "amount=1",
    "an extra number": `${JSON.stringify(good)} 1`,
    NaN: `{"amount":NaN${rest}}`,
    "single quotes": "{'a':1}",
    "an array": "[]",
    "a text": `"x"`,
    "a number": "1",
    true: "true",
    __proto__: `{"__proto__":{"admin":true}${rest}}`,
    constructor: `{"constructor":{"prototype":1}${rest}}`,
    "deep arrays": `{"x":${"[".repeat(30_000)}${"]".repeat(30_000)}${rest}}`,
    "deep objects": `{"x":${`{"a":`.repeat(10_000)}1${"}".repeat(10_000)}${rest}}`,
    "deep metadata": `{"metadata":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
    "a NUL in a key": `{"a\\u0000b":1${rest}}`,
    "a lone surrogate in a key": `{"\\ud800":1${rest}}`,
    "NUL bytes": "\0\0"
  }
}

const named = (endpoint: Endpoint) => `${endpoint.method} ${endpoint.path.replace(/[0-9a-f-]{36}/, ":id")}`
const asking =
  ({ method, path, body }: Endpoint) =>
  (options: Ask = {}) =>
    service.ask(method, path, { ...(body !== undefined && { body }), ...options })
const withBody = endpoints.flatMap((endpoint) =>
  endpoint.body === undefined ? [] : [{ ...endpoint, body: endpoint.body }]
)
const withId = endpoints.filter(({ path }) => /[0-9a-f-]{36}/.test(path))

describe("valid requests", () => {
  for (const endpoint of endpoints) {
    const { status, scopes } = endpoint
    it(`${named(endpoint)}: returns ${status} in the envelope for a key with one of the scopes ${[...scopes, "admin"].join(", ")}`, async () => {
      for (const key of [company.key, ...scopes.map((scope) => keys[scope])]) {
        const answer = await asking(endpoint)({ key })
        assert.strictEqual(answer.status, status, answer.text)
        assert.sameMembers(Object.keys(answer.body), ["status", "message", "data"])
        assert.deepStrictEqual(
          [answer.body.status, typeof answer.body.message, typeof answer.body.data],
          [status, "string", "object"]
        )
        assert.isNotNull(answer.body.data)
        assert.strictEqual(answer.headers.get("cache-control"), "no-store")
        assert.strictEqual(answer.headers.get("x-content-type-options"), "nosniff")
      }
    })
  }

  for (const endpoint of endpoints.filter(({ method }) => method === "GET")) {
    it(`${named(endpoint)}: the response to HEAD has no body`, async () => {
      const answer = await service.ask("HEAD", endpoint.path, { key: company.key })
      assert.deepStrictEqual(
        [answer.status, answer.text, answer.headers.get("content-type")],
        [200, "", "application/json"]
      )
    })
  }

  for (const endpoint of withBody) {
    it(`${named(endpoint)}: JSON with a charset is accepted`, async () => {
      const headers = { "content-type": "application/json; charset=utf-8" }
      assert.strictEqual((await asking(endpoint)({ key: company.key, headers })).status, endpoint.status)
    })

    it(`${named(endpoint)}: null is accepted for every optional field`, async () => {
      const { body, wrong = {}, required = [] } = endpoint
      const optional = Object.keys(wrong).filter(
        (member) => !required.includes(member) && member !== "amount" && member !== "currency"
      )
      const nothing = Object.fromEntries(optional.map((member) => [member, null]))
      assert.strictEqual(
        (await asking(endpoint)({ key: company.key, body: { ...body, ...nothing } })).status,
        endpoint.status
      )
    })
  }

  for (const endpoint of endpoints.filter(({ bodyIsOptional }) => bodyIsOptional)) {
    it(`${named(endpoint)}: no body, an empty body, null and {} are accepted`, async () => {
      const { method, path, status } = endpoint
      const ask = asking(endpoint)
      const headers = { "content-type": "application/json" }
      const answers = [
        await service.ask(method, path, { key: company.key }),
        await service.ask(method, path, { key: company.key, headers }),
        await ask({ key: company.key, body: "" }),
        await ask({ key: company.key, body: "null" }),
        await ask({ key: company.key, body: "{}" })
      ]
      assert.deepStrictEqual(
        answers.map((answer) => answer.status),
        answers.map(() => status)
      )
    })
  }

  for (const endpoint of withId) {
    it(`${named(endpoint)}: the id may have any letter case`, async () => {
      const path = endpoint.path.replace(/[0-9a-f-]{36}/, (id) => id.toUpperCase())
      assert.strictEqual((await service.ask("GET", path, { key: company.key })).status, 200)
    })
  }
})

describe("authorization", () => {
  it("http: at every endpoint, the word Bearer may have any letter case", async () => {
    for (const endpoint of endpoints) {
      const { status } = await asking(endpoint)({ headers: { authorization: `bEARER  ${company.key}` } })
      assert.strictEqual(status, endpoint.status, named(endpoint))
    }
  })

  for (const endpoint of endpoints) {
    const ask = asking(endpoint)

    it(`C52: ${named(endpoint)}: a missing or unknown key returns 401`, async () => {
      const unknown = `sr_regtest_123456789abc_${"1".repeat(44)}`
      for (const headers of [
        {},
        { authorization: "" },
        { authorization: "Bearer" },
        { authorization: company.key },
        { authorization: `Basic ${company.key}` }
      ]) {
        const answer = await ask({ headers })
        assert.deepStrictEqual(seen(answer), bad(401, "unauthorized"))
        assert.strictEqual(answer.headers.get("www-authenticate"), "Bearer")
      }
      for (const key of [
        "x",
        unknown,
        `${company.key}1`,
        company.key.replace("regtest", "mainnet"),
        operatorToken
      ]) {
        assert.deepStrictEqual(seen(await ask({ key })), bad(401, "unauthorized"))
      }
    })

    it(`${named(endpoint)}: a key without the required scope returns 403, and the error names the scope`, async () => {
      for (const scope of (["read", "receive", "send"] as const).filter(
        (one) => !endpoint.scopes.includes(one)
      )) {
        const answer = await ask({ key: keys[scope] })
        assert.deepStrictEqual(seen(answer), bad(403, "scope_required"))
        assert.match(answer.body.message, new RegExp(endpoint.scopes.join(" or ")))
      }
    })
  }
})

describe("invalid requests", () => {
  for (const endpoint of endpoints) {
    it(`${named(endpoint)}: another method returns 405 with an Allow header`, async () => {
      const allowed = endpoint.allow.split(", ")
      for (const another of ["GET", "POST", "PUT", "PATCH", "DELETE"].filter(
        (method) => !allowed.includes(method)
      )) {
        const answer = await service.ask(another, endpoint.path, { key: company.key })
        assert.deepStrictEqual(seen(answer), bad(405, "method_not_allowed"))
        assert.strictEqual(answer.headers.get("allow"), endpoint.allow)
      }
    })
  }

  for (const endpoint of withBody) {
    const { body, required = [], wrong = {} } = endpoint
    const ask = (sent: unknown) => asking(endpoint)({ key: company.key, body: sent })

    it(`C54: ${named(endpoint)}: a body that is too large returns 413, whether or not its length is declared`, async () => {
      const tooLarge = JSON.stringify({ ...body, x: "x".repeat(70_000) })
      assert.deepStrictEqual(seen(await ask(tooLarge)), bad(413, "body_too_large"))
      const stream = new ReadableStream({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode(tooLarge))
          controller.close()
        }
      })
      const headers = { authorization: `Bearer ${company.key}`, "content-type": "application/json" }
      const unsaid = { method: endpoint.method, body: stream, duplex: "half" as const, headers }
      assert.deepStrictEqual(
        seen(await service.send(new Request(`http://service${endpoint.path}`, unsaid))),
        bad(413, "body_too_large")
      )
    })

    it(`${named(endpoint)}: another content type returns 415`, async () => {
      for (const type of [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "nonsense"
      ]) {
        const answer = await asking(endpoint)({ key: company.key, headers: { "content-type": type } })
        assert.deepStrictEqual(seen(answer), bad(415, "unsupported_media_type"))
      }
    })

    it(`${named(endpoint)}: a malformed body returns 400, and nothing is recorded`, async () => {
      const before = await recorded()
      for (const [what, text] of Object.entries(hostile(body)))
        assert.deepStrictEqual({ what, ...seen(await ask(text)) }, { what, ...bad(400, "malformed") })
      assert.deepStrictEqual(await recorded(), before)
    })

    it(`${named(endpoint)}: the error names each unknown field`, async () => {
      const answer = await ask({ ...body, metdata: {}, foo: 1 })
      assert.deepStrictEqual(seen(answer), bad(400, "malformed"))
      assert.sameMembers(issuePaths(answer.body), ["metdata", "foo"])
    })

    for (const member of required) {
      it(`${named(endpoint)}: ${member} is required`, async () => {
        const { [member]: _, ...without } = body
        const answer = await ask(without)
        assert.deepStrictEqual(seen(answer), bad(400, "malformed"))
        assert.deepStrictEqual(answer.body.error?.issues, [
          { path: member, message: `${member} is required` }
        ])
      })
    }

    for (const [member, values] of Object.entries(wrong)) {
      it(`${named(endpoint)}: invalid values of ${member} are rejected, the error names the field, and nothing is recorded`, async () => {
        const before = await recorded()
        for (const value of values) {
          const answer = await ask({ ...body, [member]: value })
          assert.deepStrictEqual(seen(answer), bad(400, "malformed"))
          assert.isTrue(
            issuePaths(answer.body).some((path) => path.split(".")[0] === member),
            `${JSON.stringify(value)}: ${answer.text}`
          )
        }
        assert.deepStrictEqual(await recorded(), before)
      })
    }
  }

  for (const endpoint of withBody.filter(({ bodyIsOptional }) => !bodyIsOptional)) {
    it(`${named(endpoint)}: a body is required`, async () => {
      assert.deepStrictEqual(
        seen(await service.ask(endpoint.method, endpoint.path, { key: company.key })),
        bad(400, "malformed")
      )
      for (const body of ["", "null"])
        assert.deepStrictEqual(
          seen(await asking(endpoint)({ key: company.key, body })),
          bad(400, "malformed")
        )
    })
  }
})

describe("amounts", () => {
  const invoice = (body: string) =>
    service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", { key: company.key, body })
  const taken: ReadonlyArray<readonly [amount: string, currency: string, sats: number]> = [
    ["21.0", "sats", 21],
    ["2.1e1", "SATS", 21],
    ["0.00000021", "btc", 21],
    ["0.1", "BTC", 10_000_000],
    ["1", "usd", 2000],
    ["0.01", "Usd", 20],
    ["2", "jpy", 27],
    ["1e2", "sats", 100]
  ]
  for (const [amount, currency, sats] of taken) {
    it(`amounts: ${amount} ${currency} is ${sats} sats`, async () => {
      const { status, body } = await invoice(`{"amount":${amount},"currency":"${currency}"}`)
      assert.deepStrictEqual([status, body.data?.amount_sats], [201, sats])
    })
  }

  // If they were parsed as floating-point numbers, each of these amounts would be valid.
  for (const [amount, currency] of [
    ["21.00000000000000001", "sats"],
    ["0.000000210000000000001", "btc"],
    ["2.1e-400", "btc"],
    ["0.01000000000000000001", "usd"]
  ] as const) {
    it(`amounts: ${amount} ${currency} is rejected, because its exact value is invalid`, async () => {
      const { status, body } = await invoice(`{"amount":${amount},"currency":"${currency}"}`)
      assert.deepStrictEqual([status, issuePaths(body)], [400, ["amount"]])
    })
  }

  it("amounts: an amount requires a currency, and a currency does not replace the amount", async () => {
    const estimate = (body: unknown) =>
      service.ask("POST", "/v1/bitcoin/withdraw/estimate", { key: company.key, body })
    const { body } = await estimate({ amount: 1000, destination })
    assert.deepStrictEqual(issuePaths(body), ["currency"])
    for (const without of [
      { destination },
      { destination, currency: "usd" },
      { destination, amount: null, currency: null }
    ]) {
      assert.deepStrictEqual(seen(await estimate(without)), bad(422, "amount_required"))
    }
    const fixed = await service.sandbox((sandbox) =>
      sandbox.destination({ type: "lightning_invoice", amount: service.sats(777) })
    )
    assert.strictEqual((await estimate({ destination: fixed.destination })).body.data.amount_sats, 777)
    assert.strictEqual(
      (await estimate({ destination: fixed.destination, currency: "usd" })).body.data.amount_sats,
      777
    )
  })

  it("invoice: the description is any text of up to 639 bytes", async () => {
    for (const description of ["", "ü".repeat(319), "🙂", 'a\nb\t"c"', "x".repeat(639)]) {
      const { status, body } = await service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
        key: company.key,
        body: { amount: 1, currency: "sats", description }
      })
      assert.deepStrictEqual([status, body.data?.memo], [201, description])
    }
  })
})

describe("paths that are not endpoints", () => {
  it("http: an unknown path returns 404 in an envelope, with or without a key", async () => {
    for (const path of [
      "/v1",
      "/v2/transactions",
      "/v1/transactions/balance/x",
      "/v1/%E0%A4%A",
      "/v1/../etc/passwd",
      "//",
      "/%00"
    ]) {
      for (const ask of [{}, { key: company.key }])
        assert.deepStrictEqual(seen(await service.ask("GET", path, ask)), bad(404, "not_found"))
      assert.deepStrictEqual(seen(await service.ask("POST", path, { body: {} })), bad(404, "not_found"))
    }
    assert.strictEqual((await service.ask("HEAD", "/nowhere")).status, 404)
  })
})

describe("custom handles and domains", () => {
  const create = (key: string, body: unknown) =>
    service.ask("POST", "/v1/bitcoin/deposit/lightning-address", { key, body })

  it("Lightning address: a free company gets 403 for a chosen handle or domain, but not for a random handle", async () => {
    const free = await service.company("free")
    for (const body of [
      { handle: "mine" },
      { domain: "example.com" },
      { handle: "mine", domain: "example.com" }
    ])
      assert.deepStrictEqual(seen(await create(free.key, body)), bad(403, "plan_required"))
    for (const body of [{}, { handle: "" }, { domain: "" }, { handle: null, domain: "" }])
      assert.strictEqual((await create(free.key, body)).status, 201)
  })
})
