import { afterAll, assert, describe, it } from "@effect/vitest"
import * as PretendNames from "@satrail/sandbox/PretendNames"
import * as OpenApi from "@satrail/testing/OpenApi"
import { Effect } from "effect"
import { bad, operatorToken, seen, start } from "./Service.ts"

const service = await start({ checks: [{ name: "database", check: Effect.void }] })
afterAll(service.dispose)
const { body: spec, headers } = await service.ask("GET", "/openapi.json")
// The document is read as whoever generates a client reads it: by its names.
// oxlint-disable-next-line typescript/no-explicit-any -- see above
const document = spec as any
const company = await service.company("paid")
const other = await service.company("paid")
await service.fund(company.key, 100_000)
const { destination } = await service.sandbox((sandbox) => sandbox.destination({ type: "lightning_address" }))
const withdrawal = { amount: 1000, currency: "sats", destination }
const {
  body: {
    data: { id: withdrawalID }
  }
} = await service.ask("POST", "/v1/bitcoin/withdraw/confirm", { key: company.key, body: withdrawal })
const {
  body: {
    data: [, { id: depositID }]
  }
} = await service.ask("GET", "/v1/transactions", { key: company.key })
const {
  body: {
    data: { lightning_invoice_id: invoiceID }
  }
} = await service.ask("GET", `/v1/transactions/deposits/${depositID}`, { key: company.key })
const {
  body: {
    data: { id: keyId }
  }
} = await service.ask("POST", `/operator/companies/${company.id}/api-keys`, { key: operatorToken, body: { name: "a", scopes: ["read"] } })
const { id: addressId } = await service.record(company.key, await service.lightningAddress(company.key, "shop"))

const {
  body: {
    data: { id: voucherId }
  }
} = await service.ask("POST", "/v1/vouchers", { key: company.key, body: { amount: 1, currency: "sats" } })

await service.run(
  Effect.flatMap(PretendNames.PretendNames, ({ set }) => set("_satrail-verify.shop.example", [`satrail-verify=${company.id}`]))
)

const { differences } = OpenApi.read(spec)

const failing = "/v1/bitcoin/withdraw/confirm"

/** Every endpoint, by its path in the document, and how to ask it well. */
const endpoints: Record<string, Record<string, { readonly path?: string; readonly body?: unknown; readonly key?: string }>> = {
  "/v1/bitcoin/withdraw/estimate": { post: { body: withdrawal } },
  "/v1/bitcoin/withdraw/confirm": { post: { body: withdrawal } },
  "/v1/bitcoin/send/confirm": { post: { body: withdrawal } },
  "/v1/bitcoin/deposit/lightning-invoice": { post: { body: { amount: 1, currency: "sats" } } },
  "/v1/bitcoin/deposit/lightning-invoice/{invoiceID}": { get: { path: `/v1/bitcoin/deposit/lightning-invoice/${invoiceID}` } },
  "/v1/bitcoin/deposit/lightning-address": { post: {}, get: {} },
  "/v1/bitcoin/deposit/lightning-address/{id}": {
    get: { path: `/v1/bitcoin/deposit/lightning-address/${addressId}` },
    put: { path: `/v1/bitcoin/deposit/lightning-address/${addressId}`, body: { min_sats: 5, success_message: "Thanks!" } },
    delete: { path: `/v1/bitcoin/deposit/lightning-address/${addressId}` }
  },
  "/v1/bitcoin/deposit/lightning-address/{id}/qr": { get: { path: `/v1/bitcoin/deposit/lightning-address/${addressId}/qr` } },
  "/v1/domains": { post: { body: { domain: "shop.example" } }, get: {} },
  "/tls/ask": { get: { path: "/tls/ask?domain=pay.example.com" } },
  "/v1/bitcoin/deposit/on-chain": { post: {} },
  "/v1/vouchers": { post: { body: { amount: 1, currency: "sats" } }, get: {} },
  "/v1/vouchers/{id}": { get: { path: `/v1/vouchers/${voucherId}` }, delete: { path: `/v1/vouchers/${voucherId}` } },
  "/v1/rates": { get: {} },
  "/v1/transactions": { get: {} },
  "/v1/transactions/balance": { get: {} },
  "/v1/transactions/withdrawals/{withdrawalID}": { get: { path: `/v1/transactions/withdrawals/${withdrawalID}` } },
  "/v1/transactions/deposits/{depositID}/payer": { get: { path: `/v1/transactions/deposits/${depositID}/payer` } },
  "/v1/transactions/deposits/{depositID}": { get: { path: `/v1/transactions/deposits/${depositID}` } },
  "/operator/companies": { post: { key: operatorToken, body: { name: "a", plan: "free" } } },
  "/operator/companies/{id}/api-keys": {
    post: {
      key: operatorToken,
      path: `/operator/companies/${company.id}/api-keys`,
      body: { name: "a", scopes: ["read"], expires_at: "2100-01-01T00:00:00Z" }
    }
  },
  "/operator/companies/{id}/plan": { post: { key: operatorToken, path: `/operator/companies/${company.id}/plan`, body: { plan: "paid" } } },
  "/operator/companies/{id}/domains": {
    post: { key: operatorToken, path: `/operator/companies/${company.id}/domains`, body: { domain: "example.com" } }
  },
  "/operator/api-keys/{id}/rotate": {
    post: { key: operatorToken, path: `/operator/api-keys/${keyId}/rotate`, body: { overlap_seconds: 60 } }
  },
  "/operator/api-keys/{id}": { delete: { key: operatorToken, path: `/operator/api-keys/${keyId}` } },
  "/operator/reconciliation": { get: { key: operatorToken } },
  "/operator/reconciliation/own-funds": {
    put: { key: operatorToken, path: "/operator/reconciliation/own-funds", body: { node_sats: 1000.5 } }
  },
  "/healthz": { get: {} },
  "/readyz": { get: {} },
  "/readyz/{check}": { get: { path: "/readyz/database" } },
  "/operator/metrics": { get: { key: operatorToken } }
}

describe("the OpenAPI document", () => {
  it("is OpenAPI 3.1, with the endpoints that there are and no others", () => {
    assert.match(headers.get("content-type") ?? "", /^application\/json/)
    assert.match(document.openapi, /^3\.1\./)
    assert.sameMembers(Object.keys(document.paths), Object.keys(endpoints))
    for (const [path, methods] of Object.entries(endpoints)) assert.sameMembers(Object.keys(document.paths[path]), Object.keys(methods))
  })

  it("refers to nothing that is not in it", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name ?? "")
    assert.isNotEmpty(references)
    for (const name of references) assert.property(document.components.schemas, name)
  })

  const operations = Object.entries(endpoints).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, ask]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      operation: document.paths[path]?.[method] ?? {},
      body: ask.body,
      isPost: method === "post",
      isOpen: !/^\/(v1|operator)\//.test(path),
      ask: (query = "", key: string | undefined = ask.key ?? company.key) =>
        service.ask(method.toUpperCase(), `${ask.path ?? path}${query}`, {
          ...(key !== "" && { key }),
          ...(ask.body !== undefined && { body: ask.body })
        })
    }))
  )
  const schemaOf = (operation: { readonly responses: Record<number, OpenApi.Schema> }, status: number): OpenApi.Schema => {
    // oxlint-disable-next-line typescript/no-explicit-any -- as above
    const response = operation.responses[status] as any
    const content = response?.content ?? {}
    return (content["application/json"] ?? content["text/plain; version=0.0.4; charset=utf-8"])?.schema ?? {}
  }

  for (const { name, ask } of operations.filter(({ path }) => /^\/v1\/.*\{/.test(path))) {
    it(`C53: ${name} is 404 to another company`, async () => {
      assert.deepStrictEqual(seen(await ask("", other.key)), bad(404, "not_found"))
    })
  }

  for (const { name, path, operation } of operations) {
    it(`says what ${name} is for, under a tag, and who may`, () => {
      for (const words of [operation.summary, operation.description, operation.operationId]) assert.isNotEmpty(words)
      assert.lengthOf(operation.tags, 1)
      const schemes: ReadonlyArray<OpenApi.Schema> = operation.security ?? []
      const area = path.split("/")[1] ?? ""
      const expected: Record<string, ReadonlyArray<string>> = { v1: ["apiKey"], operator: ["operatorToken"] }
      assert.deepStrictEqual(
        schemes.flatMap((scheme) => Object.keys(scheme)),
        expected[area] ?? []
      )
      assert.isTrue(area !== "v1" || /scope `(read|receive|send)`/.test(operation.description))
    })
  }

  for (const { name, operation, ask } of operations) {
    it(`agrees with a real answer of ${name}, to the member`, async () => {
      const { status, body, text } = await ask()
      assert.isTrue(status === 200 || status === 201)
      assert.deepStrictEqual(differences(body ?? text, schemaOf(operation, status)), [])
    })
  }

  for (const { name, operation, ask } of operations.filter(({ isOpen }) => !isOpen)) {
    it(`agrees with a 401 and a 400 of ${name}`, async () => {
      const answers = [await ask("", ""), await ask("?x=1")]
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [401, 400]
      )
      for (const { status, body } of answers) assert.deepStrictEqual(differences(body, schemaOf(operation, status)), [])
    })
  }

  for (const { name, operation, body } of operations.filter(({ isPost }) => isPost)) {
    it(`says what the body of ${name} is, and whether it may be left out`, () => {
      assert.strictEqual(operation.requestBody.required, body !== undefined)
      assert.deepStrictEqual(differences(body ?? {}, operation.requestBody.content["application/json"].schema), [])
    })
  }

  it("names the headers: Idempotency-Key in, Link out", () => {
    const names = document.paths[failing].post.parameters.map((one: OpenApi.Schema) => `${one["in"]} ${one["name"]} ${one["required"]}`)
    assert.deepStrictEqual(names, ["header idempotency-key false"])
    assert.property(document.paths["/v1/transactions"].get.responses["200"].headers, "link")
    assert.sameMembers(
      document.paths["/v1/transactions"].get.parameters.map((one: OpenApi.Schema) => one["name"]),
      ["limit", "cursor", "type", "status", "rail_type", "created_after", "created_before"]
    )
  })

  it("has both security schemes, as bearers", () => {
    assert.sameMembers(Object.keys(document.components.securitySchemes), ["apiKey", "operatorToken"])
    for (const scheme of Object.values<OpenApi.Schema>(document.components.securitySchemes))
      assert.deepStrictEqual([scheme["type"], scheme["scheme"]], ["http", "bearer"])
  })

  it("the comparison bites", () => {
    const schema = document.paths["/v1/transactions/balance"].get.responses["200"].content["application/json"].schema
    for (const data of [{}, { balance: "1" }, { balance: 1.5 }, { balance: 1, more: 1 }, null])
      assert.isNotEmpty(differences({ status: 200, message: "x", data }, schema), JSON.stringify(data))
    assert.isNotEmpty(differences({ status: 201, message: "x", data: { balance: 1 } }, schema))
  })
})

describe("the documentation", () => {
  it("is a page that needs nothing from elsewhere", async () => {
    const { status, headers, text } = await service.ask("GET", "/docs")
    assert.strictEqual(status, 200)
    assert.match(headers.get("content-type") ?? "", /^text\/html/)
    assert.notMatch(text, /<script[^>]+src="https?:/)
    assert.notMatch(text, /<link[^>]+href="https?:/)
    assert.include(text, "/v1/bitcoin/withdraw/confirm")
  })

  it("C55: may load nothing from elsewhere, and is set not to try", async () => {
    const { headers, text } = await service.ask("GET", "/docs")
    const policy = headers.get("content-security-policy") ?? ""
    assert.match(policy, /^default-src 'none'; /)
    assert.notMatch(policy, /https?:|\*|unsafe-eval/)
    const settings = text.slice(text.indexOf("createApiReference(document"))
    for (const setting of ['"withDefaultFonts":false', '"showDeveloperTools":"never"', '"hideClientButton":true', '"telemetry":false'])
      assert.include(settings, setting)
  })
})
