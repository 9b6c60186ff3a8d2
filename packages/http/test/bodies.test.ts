import { afterAll, assert, describe, it } from "@effect/vitest"
import * as OpenApi from "@satrail/testing/OpenApi"
import * as Random from "@satrail/testing/Random"
import { bad, issuePaths, operatorToken, seen, start } from "./Service.ts"
import * as Valid from "./Valid.ts"

const service = await start()
afterAll(service.dispose)
const company = await service.company("paid")
const post = (path: string, body: unknown) =>
  service.ask("POST", path, { key: path.startsWith("/operator") ? operatorToken : company.key, body })
const invoice = "/v1/bitcoin/deposit/lightning-invoice"
const estimate = "/v1/bitcoin/withdraw/estimate"
const confirm = "/v1/bitcoin/withdraw/confirm"
const lightningAddress = "/v1/bitcoin/deposit/lightning-address"
const companies = "/operator/companies"
const keys = `${companies}/${company.id}/api-keys`

const long = "k".repeat(41)
const badMetadata = { a: "v".repeat(501), good: "v", b: "\0", [long]: "v", "": "v" }
const badMetadataPaths = ["metadata", "metadata", "metadata.a", "metadata.b"]

/** Request bodies, and all paths that the error must name, whether or not the schema can check them. */
const bodies: ReadonlyArray<
  readonly [path: string, body: Record<string, unknown>, at: ReadonlyArray<string>]
> = [
  [invoice, { amount: 0.5, currency: "sats", expiry_seconds: 0, x: 1 }, ["amount", "expiry_seconds", "x"]],
  [invoice, { amount: -1, currency: "doge", description: "\0" }, ["amount", "currency", "description"]],
  [invoice, { amount: 0 }, ["amount", "currency"]],
  [invoice, { amount: 0, currency: "usd", metadata: { a: "\ud800" } }, ["amount", "metadata.a"]],
  [invoice, { amount: 21e14 + 1, currency: "sats", description: "d".repeat(640) }, ["amount", "description"]],
  [
    invoice,
    { amount: 1, description: "\0", metadata: badMetadata },
    ["currency", "description", ...badMetadataPaths]
  ],
  [
    invoice,
    { metadata: Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`k${at}`, "\0"])) },
    ["amount", "currency", "metadata"]
  ],
  [estimate, { amount: 1.5, currency: "sats", destination: "nonsense" }, ["amount", "destination"]],
  [estimate, { amount: 1, destination: "nonsense" }, ["currency", "destination"]],
  [
    confirm,
    { amount: 0, currency: "btc", destination: "a@b", metadata: badMetadata },
    ["amount", "destination", ...badMetadataPaths]
  ],
  [confirm, { destination: "lnbcrt1", x: 1 }, ["destination", "x"]],
  // The destination is well-formed. It belongs to another network, but the schema of one field cannot detect
  // that.
  [
    confirm,
    { amount: 0, currency: "btc", destination: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" },
    ["amount"]
  ],
  [
    lightningAddress,
    { handle: ".", domain: "localhost", metadata: badMetadata },
    ["handle", "domain", ...badMetadataPaths]
  ],
  [companies, { name: " ", plan: "gold" }, ["name", "plan"]],
  [keys, { name: "\0", scopes: [], expires_at: "2000-01-01" }, ["name", "scopes", "expires_at"]],
  // Checked after the idempotency key, so that a retry of an earlier request gets its response.
  [keys, { name: "till", scopes: ["read"], expires_at: "2000-01-01T00:00:00Z" }, ["expires_at"]],
  [`${companies}/${company.id}/domains`, { domain: "a b", x: 1 }, ["domain", "x"]]
]

describe("a response reports every issue of an invalid body", () => {
  for (const [path, body, at] of bodies) {
    it(`request body: every issue is reported: ${path} ${JSON.stringify(body).slice(0, 100)}`, async () => {
      const answer = await post(path, body)
      assert.deepStrictEqual(seen(answer), bad(400, "malformed"), answer.text)
      assert.deepStrictEqual(issuePaths(answer.body).toSorted(), at.toSorted(), answer.text)
    })
  }

  it("request body: an array has no field that could be missing", async () => {
    const { body } = await post(invoice, "[]")
    assert.deepStrictEqual(body.error?.issues, [{ path: "", message: "The body must be a JSON object" }])
  })

  it("request body: an amount is validated by its text, not by its floating-point value", async () => {
    const { status, body } = await post(
      estimate,
      `{"amount":1.00000000000000000001,"currency":"sats","destination":"nonsense"}`
    )
    assert.deepStrictEqual([status, issuePaths(body)], [400, ["amount", "destination"]])
  })
})

describe("a value that would be ignored is rejected", () => {
  const cancel = async () => {
    const { body } = await post(invoice, { amount: 1, currency: "sats" })
    return `${invoice}/${body.data.id}/cancel`
  }

  it("request body: a name that is repeated in a nested object is rejected", async () => {
    const { status, body } = await post(
      invoice,
      `{"amount":1,"currency":"sats","metadata":{"order":"1","order":"2"}}`
    )
    assert.deepStrictEqual(
      [status, body.error?.issues],
      [400, [{ path: "metadata.order", message: "metadata.order must be sent only once" }]]
    )
  })

  it("request body: the long name of an object is not copied into the path of each name that is repeated in it", async () => {
    for (const long of ["k".repeat(60_000), ".".repeat(60_000)]) {
      const { body } = await post(invoice, `{"${long}":{"a":1,"a":2}}`)
      assert.deepStrictEqual(issuePaths(body), [`${long.slice(0, 8)}….a`])
      const most = await post(invoice, `{"${long}":{${'"a":"a":'.repeat(129)}}}`)
      assert.deepStrictEqual(most.body.error?.issues, [
        { path: "", message: "The body must have at most 256 fields and items in total" }
      ])
    }
  })

  it("request body: an endpoint without fields accepts no body, whatever the headers say of one", async () => {
    for (const headers of [
      { "content-encoding": "gzip" },
      { "content-type": "application/json; charset=iso-8859-1" }
    ])
      assert.strictEqual(
        (await service.ask("POST", await cancel(), { key: company.key, headers })).status,
        200,
        JSON.stringify(headers)
      )
  })

  it("request body: an endpoint without fields rejects a field and accepts an empty body, null and {}", async () => {
    const path = await cancel()
    for (const body of ['{"reason":"late"}', "[]", "x", '"reason"'])
      assert.deepStrictEqual(seen(await post(path, body)), bad(400, "malformed"), body)
    assert.deepStrictEqual((await post(path, { reason: "late" })).body.error?.issues, [
      { path: "reason", message: 'unknown field "reason": this endpoint has none' }
    ])
    assert.strictEqual(
      (await service.ask("GET", path.replace("/cancel", ""), { key: company.key })).body.data.status,
      "open"
    )
    for (const body of ["", " ", "null", "{}"]) assert.strictEqual((await post(path, body)).status, 200, body)
  })

  it("request query: a repeated parameter is reported as such, with every other issue", async () => {
    const { body } = await service.ask("GET", "/v1/transactions?limit=1&limit=2&type=x", { key: company.key })
    assert.deepStrictEqual(body.error?.issues?.[0], {
      path: "limit",
      message: "limit must be sent only once"
    })
    assert.deepStrictEqual(issuePaths(body), ["limit", "type"])
  })

  it("request query: a payment hash that is not hex is reported with its name", async () => {
    const { body } = await service.ask("GET", `${invoice}?payment_hash=x`, { key: company.key })
    assert.deepStrictEqual(body.error?.issues, [
      { path: "payment_hash", message: "payment_hash must be 32 bytes in hex" }
    ])
  })
})

describe("a field of the wrong type", () => {
  const wrong = ["x", 7, true, [], {}]

  /** Returns a body in which every field has this value. */
  const spoiled = (
    value: unknown,
    given: OpenApi.Schema,
    resolve: OpenApi.Document["resolve"],
    isDeep: boolean
  ): unknown => {
    const found = resolve(given)
    const all = [...OpenApi.parts(found), ...OpenApi.alternatives(found)].map(
      (one) => resolve(one)["properties"]
    )
    const fields = all.flatMap((one) => (OpenApi.isObject(one) ? Object.entries(one) : []))
    if (fields.length === 0) return value
    return Object.fromEntries(
      fields.map(([name, field]) => [
        name,
        isDeep && OpenApi.isObject(field) ? spoiled(value, field, resolve, true) : value
      ])
    )
  }

  it("request body: no error about a field's type contains the name of one of our types", async () => {
    const documents = await Promise.all(
      ["/openapi.json", "/operator/openapi.json"].map(async (path) => (await service.ask("GET", path)).body)
    )
    const { operations, resolve } = OpenApi.read(...documents)
    const messages = new Map<string, string>()
    for (const { method, path, opens, body } of operations) {
      if (body === undefined) continue
      const key = opens.some((scheme) => /operator/i.test(scheme)) ? operatorToken : company.key
      for (const one of wrong.flatMap((value) =>
        [true, false].map((isDeep) => spoiled(value, body.schema, resolve, isDeep))
      )) {
        const { body: answer } = await service.ask(method, path.replaceAll(/\{\w+\}/g, company.id), {
          key,
          body: one
        })
        for (const issue of answer?.error?.issues ?? []) messages.set(issue.message, `${path} ${issue.path}`)
      }
    }
    assert.isAbove(messages.size, 20)
    const internal = [...messages].filter(([message]) =>
      /[a-z][A-Z]|must be [A-Z]|null or [A-Z]|, [A-Z]\w+ or|[<>]|unknown|undefined/.test(message)
    )
    assert.deepStrictEqual(internal, [])
  })
})

describe("text that a database cannot store", () => {
  /** Returns copies of the value, each with another one of its strings replaced. */
  const replaced = (value: unknown, by: string): ReadonlyArray<unknown> => {
    if (typeof value === "string") return [by]
    if (typeof value !== "object" || value === null) return []
    return Object.entries(value).flatMap(([name, one]) =>
      replaced(one, by).map((other) =>
        Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other }
      )
    )
  }

  it("request body: no operation accepts a NUL or a lone surrogate", async () => {
    const documents = await Promise.all(
      ["/openapi.json", "/operator/openapi.json"].map(async (path) => (await service.ask("GET", path)).body)
    )
    const { operations, resolve } = OpenApi.read(...documents)
    const accepted = new Set<string>()
    for (const [at, { method, name, path, opens, body }] of operations.entries()) {
      if (body === undefined) continue
      const valid = Valid.make(Random.make(Random.derived(1, at)), resolve)
      const key = opens.some((scheme) => /operator/i.test(scheme)) ? operatorToken : company.key
      for (const text of ["a\0b", "a\ud800b"])
        for (const one of Array.from({ length: 4 }, () => valid(body.schema)).flatMap((given) =>
          replaced(given, text)
        )) {
          const answer = await service.ask(method, path.replaceAll(/\{\w+\}/g, company.id), {
            key,
            body: one
          })
          if (![400, 404].includes(answer.status))
            accepted.add(`${name}: ${answer.status} ${JSON.stringify(one)}`)
        }
    }
    assert.deepStrictEqual([...accepted], [])
  })
})

describe("a field name that is long, as if a secret had been sent as a name", () => {
  const secret = "a-secret-in-the-wrong-place"

  it("request body: the error truncates a long unknown name, which may be a secret, and repeats a misspelled name in full", async () => {
    const key = { key: company.key }
    const answers = [
      await service.ask("POST", invoice, { ...key, body: { amount: 1, currency: "sats", [secret]: 1 } }),
      await service.ask("POST", invoice, {
        ...key,
        body: `{"amount":1,"currency":"sats","${secret}":1,"${secret}":1}`
      }),
      await service.ask("POST", invoice, {
        ...key,
        body: { amount: 1, currency: "sats", metadata: { [secret.repeat(2)]: 1 } }
      }),
      await service.ask("GET", `/v1/transactions?${secret}=1`, key),
      await service.ask("GET", `/v1/transactions/balance?${secret}=1`, key)
    ]
    for (const answer of answers) {
      assert.deepStrictEqual(seen(answer), bad(400, "malformed"))
      assert.notInclude(answer.text, secret)
      assert.isTrue(
        answer.body.error?.issues?.some(({ path }) => /^(metadata\.)?a-secret…$/.test(path)),
        answer.text
      )
    }
    const slip = await service.ask("POST", invoice, {
      ...key,
      body: { amount: 1, currency: "sats", expiriy_seconds: 60 }
    })
    assert.deepStrictEqual(slip.body.error?.issues, [
      { path: "expiriy_seconds", message: 'unknown field "expiriy_seconds": did you mean "expiry_seconds"?' }
    ])
  })
})

describe("strings of the documented maximum length", () => {
  const wave = "\u{1F30A}" // one character, encoded as two UTF-16 units
  const texts: ReadonlyArray<readonly [most: number, ask: (text: string) => ReturnType<typeof service.ask>]> =
    [
      [200, (text) => post("/v1/checkouts", { amount: 1, currency: "sats", order_id: text })],
      [
        500,
        (text) => post("/v1/webhook-endpoints", { url: "https://shop.example/webhooks", description: text })
      ],
      [200, (text) => post(companies, { name: text, plan: "free" })],
      [
        200,
        (text) =>
          service.ask("GET", `${companies}?search=${encodeURIComponent(text)}`, { key: operatorToken })
      ],
      [
        253,
        (text) => service.ask("GET", `/v1/events?subject=${encodeURIComponent(text)}`, { key: company.key })
      ]
    ]
  for (const [at, [most, ask]] of texts.entries()) {
    it(`request: characters are counted as code points, as in JSON Schema: case ${at + 1}, ${most} emoji`, async () => {
      const [taken, refused] = [await ask(wave.repeat(most)), await ask(wave.repeat(most + 1))]
      assert.oneOf(taken.status, [200, 201], taken.text)
      assert.strictEqual(refused.status, 400, refused.text)
    })
  }
})

describe("a repeated member", () => {
  const twice: ReadonlyArray<readonly [path: string, text: string, at: ReadonlyArray<string>]> = [
    [invoice, `{"amount":1,"currency":"sats","currency":"btc"}`, ["currency"]],
    [invoice, `{"amount":1,"amount":1,"currency":"sats"}`, ["amount"]],
    [invoice, `{"amount":1,"\\u0061mount":1,"currency":"sats"}`, ["amount"]],
    [companies, `{"name":"a","name":"b","plan":"free"}`, ["name"]]
  ]
  for (const [path, text, at] of twice) {
    it(`request body: a repeated field is rejected, and the error names it: ${text}`, async () => {
      const answer = await post(path, text)
      assert.deepStrictEqual(seen(answer), bad(400, "malformed"))
      assert.deepStrictEqual(issuePaths(answer.body), at)
    })
  }

  it("request body: the same name in a nested object is a different field", async () => {
    assert.strictEqual(
      (await post(invoice, `{"amount":1,"currency":"sats","metadata":{"currency":"x","amount":"y"}}`)).status,
      201
    )
  })
})

describe("the encoding of a body", () => {
  const send = (body: string | Uint8Array<ArrayBuffer>, contentType: string) =>
    service.send(
      new Request(`http://service${invoice}`, {
        method: "POST",
        headers: { authorization: `Bearer ${company.key}`, "content-type": contentType },
        body
      })
    )
  const good = `{"amount":1,"currency":"sats"}`

  it("request body: a body that is not UTF-8 is rejected, and its invalid bytes are not replaced", async () => {
    for (const wrong of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80]]) {
      const bytes = Buffer.concat([
        Buffer.from(`{"amount":1,"currency":"sats","description":"`),
        Buffer.from(wrong),
        Buffer.from(`"}`)
      ])
      const answer = await send(bytes, "application/json")
      assert.deepStrictEqual(seen(answer), bad(400, "malformed"))
      assert.deepStrictEqual(answer.body.error?.issues, [{ path: "", message: "The body must be UTF-8" }])
    }
  })

  it("request body: UTF-8 is the only charset that may be declared", async () => {
    for (const charset of ["utf-8", "UTF-8", '"utf-8"', "utf8"])
      assert.strictEqual((await send(good, `application/json; charset=${charset}`)).status, 201, charset)
    for (const charset of ["utf-16", "iso-8859-1", "latin1", "utf-8x", ""])
      assert.deepStrictEqual(
        seen(await send(good, `application/json; charset=${charset}`)),
        bad(415, "unsupported_media_type"),
        charset
      )
  })
})

describe("dates that do not exist", () => {
  for (const day of [
    "2026-02-30",
    "2026-02-29",
    "2100-02-29",
    "2027-04-31",
    "2027-13-01",
    "2027-00-01",
    "2027-01-00"
  ]) {
    it(`date: ${day} is rejected in a body and in a query`, async () => {
      const key = await post(keys, { name: "a", scopes: ["read"], expires_at: `${day}T00:00:00Z` })
      assert.deepStrictEqual([key.status, issuePaths(key.body)], [400, ["expires_at"]], key.text)
      const list = await service.ask("GET", `/v1/transactions?from=${day}T00:00:00Z`, { key: company.key })
      assert.deepStrictEqual([list.status, issuePaths(list.body)], [400, ["from"]], list.text)
    })
  }

  it("date: February 29 is valid in a leap year, even with an offset", async () => {
    const { body } = await post(keys, {
      name: "a",
      scopes: ["read"],
      expires_at: "2096-02-29T23:30:00-01:00"
    })
    assert.strictEqual(body.data.expires_at, "2096-03-01T00:30:00.000Z")
  })
})
