import { afterAll, assert, describe, it } from "@effect/vitest"
import * as AuditLog from "@satrail/features/audit/core/AuditLog"
import * as Catalogue from "../../src/core/Catalogue.ts"
import { ChainDeposits } from "@satrail/core/receiving/ChainDeposits"
import * as SimulatedDns from "@satrail/sandbox/SimulatedDns"
import * as OpenApi from "@satrail/testing/OpenApi"
import { Effect } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { gunzipSync } from "node:zlib"
import { Api } from "../../src/http/Api.ts"
import * as Docs from "../../src/http/pages/Docs.ts"
import { bad, operatorToken, seen, start } from "../../../http/test/Service.ts"
import * as Makers from "../../../http/test/Makers.ts"

const service = await start({ checks: [{ name: "database", check: Effect.void }] })
afterAll(service.dispose)
// oxlint-disable-next-line typescript/no-explicit-any -- documents are read by their names, as by a client generator
type Any = any
const { documents, differences, operations: documented, makerOf } = await Makers.read(service)
const [customers, operators] = documents
// The documents are read by their names, as by a client generator.
// oxlint-disable-next-line typescript/no-explicit-any -- see above
const [customer, operator] = [OpenApi.expanded(customers) as any, OpenApi.expanded(operators) as any]
/** All operations, each with its own example. The served document has only one example for each kind of record. */
const whole = new Map<string, Any>(
  Object.values(Docs.whole(Api, { network: "regtest" })).flatMap(({ paths }: Any) =>
    Object.entries<Any>(paths).flatMap(([path, methods]) =>
      Object.entries<Any>(methods).map(([method, one]) => [`${method.toUpperCase()} ${path}`, one] as const)
    )
  )
)
const document = {
  ...customer,
  paths: { ...customer.paths, ...operator.paths },
  components: {
    schemas: { ...customer.components.schemas, ...operator.components.schemas },
    securitySchemes: { ...customer.components.securitySchemes, ...operator.components.securitySchemes }
  }
}
const company = await service.company("paid")
await service.fund(company.key, 100_000)
const { destination } = await service.sandbox((sandbox) => sandbox.destination({ type: "lightning_address" }))
const withdrawal = { amount: 1000, currency: "sats", destination }
await service.run(
  Effect.flatMap(SimulatedDns.SimulatedDns, ({ set }) =>
    set("_satrail-verify.shop.example", [`satrail-verify=${company.id}`])
  )
)

/** A key whose voucher the operator cancels. */
const revoked = await service.keyFor(company.id, "send")
await service.ask("POST", "/v1/vouchers", { key: revoked, body: { amount: 21, currency: "sats" } })

/** Required bodies, for routes whose own example can't be used. */
const bodies: Readonly<Record<string, unknown>> = {
  ...(await Makers.bodiesOf(service, company)),
  "POST /v1/bitcoin/withdraw/estimate": withdrawal,
  "POST /v1/bitcoin/withdraw/confirm": withdrawal,
  "POST /v1/bitcoin/send/confirm": withdrawal,
  "POST /v1/refunds": { deposit_id: await Makers.deposit(service, company), amount: 1, currency: "sats" },
  "POST /v1/domains": { domain: "shop.example" },
  "POST /operator/companies/{companyId}/vouchers/cancel": { created_by: revoked.split("_")[2] },
  "POST /operator/adjustments": { company_id: company.id, amount_sats: 1, reason: "a drill" }
}

/** The path of a company's record, which is created if it has an id. */
const pathOf = async (path: string): Promise<string> => {
  const filled = path.replace("{month}", "2026-01").replace("{check}", "database")
  if (path.endsWith("/search")) return `${path}?text=1042`
  if (path === "/tls/ask") return `${path}?domain=pay.example.com`
  if (!filled.includes("{")) return filled
  const within = /\{.*\{/.test(filled) ? filled.replace("{companyId}", company.id) : filled
  const make = makerOf(filled) ?? assert.fail(`nothing creates a record for ${path}`)
  return within.replace(/\{\w+\}/, await make(service, company))
}

const requests: Array<
  Pick<OpenApi.Operation, "name" | "method" | "path"> & { readonly body: unknown; readonly target: string }
> = []
for (const { name, method, path, body: asked, example } of documented) {
  const body = asked?.required === true ? (bodies[name] ?? example) : undefined
  requests.push({ name, method, path, body, target: await pathOf(path) })
}

// An unconfirmed deposit. Follow the chain directly, so that no worker pays the withdrawal.
const { address: onChainAddress } = (
  await service.ask("POST", "/v1/bitcoin/deposit/on-chain", { key: company.key })
).body.data.address
await service.sandbox(({ send }) => send({ address: onChainAddress, amount: service.sats(50_000) }))
await service.run(Effect.flatMap(ChainDeposits, ({ follow }) => follow()))
await service.run(Effect.repeat(AuditLog.link, { while: (count) => count > 0 }))

const keyOf = (path: string) => (path.startsWith("/operator/") ? operatorToken : company.key)

describe("the OpenAPI document", () => {
  it("openapi: the document has version 3.1, and lists every endpoint", async () => {
    assert.match(
      (await service.ask("GET", "/openapi.json")).headers.get("content-type") ?? "",
      /^application\/json/
    )
    assert.match(document.openapi, /^3\.1\./)
    const groups: ReadonlyArray<{ readonly endpoints: Readonly<Record<string, HttpApiEndpoint.Top>> }> =
      Object.values(Api.groups)
    const routes = groups.flatMap(({ endpoints }) =>
      Object.values(endpoints).map(({ method, path }) => `${method} ${path}`)
    )
    assert.includeMembers(
      documented.map(({ name }) => name),
      routes.map((route) => route.replaceAll(/:(\w+)/g, "{$1}"))
    )
  })

  for (const [name, one] of [
    ["customers", customer],
    ["the operator", operator]
  ] as const) {
    it(`openapi: the document for ${name} defines every schema that it refers to, and no unused schema`, () => {
      const references = [...JSON.stringify(one).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
        ([, name]) => name ?? ""
      )
      assert.isNotEmpty(references)
      assert.sameMembers(Object.keys(one.components.schemas), [...new Set(references)])
      const operations = Object.values<Record<string, OpenApi.Schema>>(one.paths).flatMap((path) =>
        Object.values(path)
      )
      const used = (member: string) =>
        new Set(operations.flatMap((operation) => JSON.stringify(operation[member])))
      for (const scheme of Object.keys(one.components.securitySchemes))
        assert.include([...used("security")].join(), `"${scheme}"`)
      for (const tag of one.tags) assert.include([...used("tags")].join(), `"${tag.name}"`)
      assert.deepStrictEqual(one.servers, [{ url: "/", description: "This service" }])
    })
  }

  it("openapi: every event type is a webhook of the public document, with the schema that encodes its body", () => {
    assert.sameMembers(Object.keys(customer.webhooks), Object.keys(Catalogue.notices))
    const types: Array<string> = []
    for (const { post } of Object.values<Any>(customer.webhooks)) {
      const { $ref } = post.requestBody.content["application/json"].schema
      const { allOf } = customer.components.schemas[$ref.split("/").at(-1)]
      const properties = Object.assign({}, ...allOf.map((part: Any) => part.properties))
      types.push(...(properties.type.enum ?? [properties.type.const]))
      assert.property(properties.data, "$ref", post.operationId)
    }
    assert.sameMembers(types, [...Catalogue.types])
    assert.notProperty(operator, "webhooks")
  })

  for (const [name, text, maximum] of [
    ["customers", JSON.stringify(customers), 3_250],
    ["the operator", JSON.stringify(operators), 2_500]
  ] as const) {
    const one: Any = JSON.parse(text)

    // A document grows with its operations only: what operations share is in it once.
    it(`openapi: the document for ${name} has at most ${maximum} bytes for each operation`, () => {
      const operations = Object.values<Any>(one.paths).flatMap((path) => Object.keys(path)).length
      assert.isAtMost(Buffer.byteLength(text) / operations, maximum)
    })

    it(`openapi: the document for ${name} has no numbered names`, () => {
      for (const kind of Object.values<object>(one.components))
        assert.deepStrictEqual(
          Object.keys(kind).filter((each) => /[\d_]$/.test(each)),
          []
        )
    })

    it(`openapi: the schemas for ${name} allow unknown fields in responses and events, but not in request bodies`, () => {
      const closed = '"additionalProperties":false'
      const schemas = one.components.schemas
      const reachable = (value: unknown, found = new Set<string>()): ReadonlySet<string> => {
        for (const [, each = ""] of (JSON.stringify(value) ?? "").matchAll(/schemas\/([^"]+)"/g))
          if (!found.has(each)) reachable(schemas[each], found.add(each))
        return found
      }
      const all = Object.values<Any>(one.paths).flatMap((path) => Object.values<Any>(path))
      const [answers, bodies] = [
        all.map(({ responses }) => responses),
        all.flatMap(({ requestBody }) => requestBody ?? [])
      ]
      assert.isAbove(bodies.length, 10)
      for (const each of reachable([answers, one.components.responses, one.webhooks]))
        assert.notInclude(JSON.stringify(schemas[each]), closed, each)
      assert.notInclude(JSON.stringify([answers, one.components.responses]), closed)
      for (const each of reachable(bodies))
        if ("properties" in schemas[each]) assert.strictEqual(schemas[each].additionalProperties, false, each)
    })
  }

  it("openapi: one document has the customers' routes, and the other document has the operators' routes", () => {
    assert.isTrue(Object.keys(customer.paths).every((path) => path.startsWith("/v1/")))
    assert.sameMembers(
      Object.keys(operator.paths).filter((path) => !path.startsWith("/operator/")),
      ["/healthz", "/readyz", "/readyz/{check}", "/tls/ask"]
    )
    assert.deepStrictEqual(
      [Object.keys(customer.components.securitySchemes), Object.keys(operator.components.securitySchemes)],
      [["apiKey"], ["operatorToken"]]
    )
  })

  it("openapi: numbers in a query have a numeric type, and every list has the schema of its items", () => {
    for (const path of ["/v1/transactions", "/v1/vouchers", "/v1/bitcoin/deposit/lightning-address"]) {
      const { schema } = document.paths[path].get.parameters.find(
        (one: OpenApi.Schema) => one["name"] === "limit"
      )
      assert.deepStrictEqual(
        [schema.type, schema.minimum, schema.maximum],
        ["integer", 1, path === "/v1/transactions" ? 1000 : schema.maximum]
      )
      assert.isAbove(schema.maximum, 1)
    }
    const look = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return
      if ("type" in value && value.type === "array") assert.property(value, "items", JSON.stringify(value))
      Object.values(value).forEach(look)
    }
    look(document)
  })

  it("openapi: the reference page sends an optional parameter only if it is enabled, because a preset key would be the same for every request", () => {
    for (const path of Object.values<Record<string, { readonly parameters: ReadonlyArray<OpenApi.Schema> }>>(
      document.paths
    ))
      for (const { parameters } of Object.values(path))
        for (const one of parameters.filter(({ required }) => required !== true)) {
          assert.notProperty(one["schema"], "default")
          // oxlint-disable-next-line typescript/no-explicit-any -- as above
          const { value, "x-disabled": isDisabled } = (one as any).examples.default
          assert.deepStrictEqual(differences(value, Object(one["schema"])), [], JSON.stringify(one))
          assert.isTrue(isDisabled)
        }
  })

  const operations = requests.map(({ name, method, path, body, target }) => ({
    name,
    path,
    target,
    operation: document.paths[path][method.toLowerCase()],
    body,
    isPost: method === "POST",
    isOpen: !/^\/(v1|operator)\//.test(path),
    ask: (query = "", key: string = keyOf(path)) =>
      service.ask(method, `${target}${target.includes("?") ? query.replace("?", "&") : query}`, {
        ...(key !== "" && { key }),
        ...(body !== undefined && { body })
      })
  }))
  const schemaOf = (
    operation: { readonly responses: Record<number, OpenApi.Schema> },
    status: number
  ): OpenApi.Schema => {
    // oxlint-disable-next-line typescript/no-explicit-any -- as above
    const response = operation.responses[status] as any
    const content = response?.content ?? {}
    const text =
      content["text/plain; version=0.0.4; charset=utf-8"] ??
      content["text/csv; charset=utf-8; header=present"]
    // A stream never ends. events.test.ts reads one, and its events have the feed's schema.
    if ("text/event-stream" in content) return { type: "string" }
    return (content["application/json"] ?? text)?.schema ?? {}
  }

  for (const { name, path, operation } of operations) {
    it(`openapi: ${name} has a summary, a description, a tag and its security`, () => {
      for (const words of [operation.summary, operation.description, operation.operationId])
        assert.isNotEmpty(words)
      assert.lengthOf(operation.tags, 1)
      const schemes: ReadonlyArray<OpenApi.Schema> = operation.security ?? []
      const area = path.split("/")[1] ?? ""
      const expected: Record<string, ReadonlyArray<string>> = { v1: ["apiKey"], operator: ["operatorToken"] }
      assert.deepStrictEqual(
        schemes.flatMap((scheme) => Object.keys(scheme)),
        expected[area] ?? []
      )
      assert.isTrue(
        area !== "v1" ||
          /Requires the `(read|receive|send|approve|webhooks|admin)`[^.]* scope\./.test(operation.description)
      )
      // Operator tokens have different scopes than API keys. Only `read` is in both.
      assert.isTrue(
        area !== "operator" ||
          !/Requires [^.]*`(?:receive|send|approve|webhooks|admin)`[^.]* scope/.test(operation.description)
      )
    })
  }

  for (const { name, operation, ask } of operations) {
    it(`openapi: a real response of ${name} has exactly the documented fields`, async () => {
      const { status, body, text } = await ask()
      assert.isTrue(status === 200 || status === 201)
      assert.deepStrictEqual(differences(body ?? text, schemaOf(operation, status)), [])
      // Every operator request that changes something must be in the audit log, including new ones.
      if (name.includes(" /operator/") && !name.startsWith("GET ")) {
        const { body: audit } = await service.ask(
          "GET",
          `/operator/audit?verb=${operation.operationId}&outcome=done`,
          {
            key: operatorToken
          }
        )
        assert.isNotEmpty(audit.data, `${operation.operationId} is not in the audit log`)
      }
      const example = whole.get(name)?.responses[status].content["application/json"]?.examples?.default.value
      if (example === undefined) return
      assert.strictEqual(example.message, body.message, "the example has the fields of a real response")
      const [shown] = [example.data].flat()
      const [real] = [body.data].flat()
      if (shown !== null && typeof shown === "object")
        assert.sameMembers(Object.keys(shown), Object.keys(real))
    })
  }

  for (const { name, path, operation, ask } of operations.filter(({ isOpen }) => !isOpen)) {
    it(`openapi: ${name} rejects the other kind of key, and its 401 and 400 responses match the document`, async () => {
      const foreign = path.startsWith("/operator") ? company.key : operatorToken
      const answers = [await ask("", ""), await ask("", foreign), await ask("?x=1")]
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [401, 401, 400]
      )
      for (const { status, body } of answers)
        assert.deepStrictEqual(differences(body, schemaOf(operation, status)), [])
    })
  }

  for (const { name, path, target, operation, body } of operations.filter(
    (one) => one.isPost && one.operation.requestBody !== undefined
  )) {
    it(`openapi: the request body of ${name} matches the document, and is required only if documented as required`, async () => {
      // The real responses above show that a body documented as optional can be left out.
      if (operation.requestBody.required)
        assert.strictEqual((await service.ask("POST", target, { key: keyOf(path) })).status, 400)
      const { schema } = operation.requestBody.content["application/json"]
      assert.deepStrictEqual(differences(body ?? {}, schema), [])
    })
  }

  it("openapi: every request body is a named schema, because an optional one is left out and never null", () => {
    const bodies = operations.flatMap(({ name, operation: { requestBody } }) =>
      requestBody === undefined ? [] : [{ name, requestBody }]
    )
    assert.isNotEmpty(bodies.filter(({ requestBody }) => requestBody.required !== true))
    for (const { name, requestBody } of bodies)
      assert.hasAllKeys(requestBody.content["application/json"].schema, ["$ref"], name)
  })

  it("openapi: the headers that a client acts on are documented with the responses that have them", () => {
    for (const { parameters = [], responses } of Object.values<Record<string, Any>>(document.paths).flatMap(
      (path) => Object.values(path)
    )) {
      const [isOnce, isPaged] = ["Idempotency-Key", "cursor"].map((one) =>
        parameters.some(({ name }: Any) => name === one)
      )
      for (const [status, response] of Object.entries<Any>(responses)) {
        const names = Object.keys(response.headers ?? {})
        assert.strictEqual(
          names.includes("idempotency-replayed"),
          isOnce && status === "201",
          JSON.stringify(response)
        )
        if (isPaged && "application/json" in (response.content ?? {}) && status === "200")
          assert.include(names, "link")
        if (["429", "503"].includes(status)) assert.include(names, "retry-after", JSON.stringify(response))
      }
    }
  })

  it("openapi: every POST that creates a record documents the Idempotency-Key header and the mismatch error", () => {
    const creating = operations.filter(({ isPost, operation }) => isPost && "201" in operation.responses)
    assert.isAtLeast(creating.length, 10)
    for (const { name, operation } of creating) {
      const names = operation.parameters.map((one: OpenApi.Schema) => one["name"])
      assert.include(names, "Idempotency-Key", name)
      assert.include(JSON.stringify(operation.responses["422"]), "IdempotencyMismatch", name)
    }
  })

  it("openapi: every operation documents the errors that occur before its handler runs, and every parameter has a description", () => {
    for (const { name, operation } of operations) {
      assert.includeMembers(
        Object.keys(operation.responses),
        ["400", "408", "413", "415", "417", "431", "500", "503"],
        name
      )
      for (const one of operation.parameters)
        assert.match(one.description, /^[A-Z`<0-9]/, `${name} ${one.name}`)
    }
  })

  it("openapi: a POST whose body has no required field can be sent without a body", () => {
    const needless = operations.filter(({ isPost, operation }) => {
      if (!isPost || operation.requestBody?.required !== true) return false
      const given = operation.requestBody.content["application/json"].schema
      const schema =
        given.$ref === undefined ? given : document.components.schemas[given.$ref.split("/").at(-1)]
      return schema.type === "object" && (schema.required ?? []).length === 0
    })
    // A refund needs a deposit or an invoice. A list of required fields can't express that.
    assert.deepStrictEqual(
      needless.map(({ name }) => name),
      ["POST /v1/refunds"]
    )
  })

  it("openapi: every request that cancels something is a POST whose path ends in /cancel", () => {
    const canceling = operations.filter(({ operation }) => /cancel/i.test(operation.operationId))
    assert.isAtLeast(canceling.length, 4)
    for (const { name } of canceling) assert.match(name, /^POST .*\/cancel$/)
  })

  it("openapi: both security schemes are bearer tokens", () => {
    assert.sameMembers(Object.keys(document.components.securitySchemes), ["apiKey", "operatorToken"])
    for (const scheme of Object.values<OpenApi.Schema>(document.components.securitySchemes))
      assert.deepStrictEqual([scheme["type"], scheme["scheme"]], ["http", "bearer"])
  })

  /** Returns whether a body's schema allows a value. */
  const allows = (given: Any, value: Any): boolean => {
    const {
      allOf = [],
      anyOf,
      ...schema
    } = given.$ref === undefined ? given : document.components.schemas[given.$ref.split("/").at(-1)]
    const {
      minLength = 0,
      maxLength = Infinity,
      pattern = "",
      enum: choices,
      minimum = -Infinity,
      exclusiveMinimum = -Infinity,
      maximum = Infinity
    } = schema
    const {
      minItems = 0,
      required = [],
      properties = {},
      propertyNames = {},
      additionalProperties: rest,
      type
    } = schema
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value)
    const kind = value === null ? "null" : Array.isArray(value) ? "array" : typeof value
    const own = () => {
      if (
        type !== undefined &&
        ![type].flat().some((one) => one === kind || (one === "integer" && Number.isInteger(value)))
      )
        return false
      if (typeof value === "string")
        return (
          [...value].length >= minLength &&
          [...value].length <= maxLength &&
          new RegExp(pattern, "u").test(value) &&
          (choices?.includes(value) ?? true)
        )
      if (typeof value === "number") return value >= minimum && value > exclusiveMinimum && value <= maximum
      if (Array.isArray(value))
        return value.length >= minItems && value.every((one) => allows(schema.items ?? {}, one))
      if (!isObject) return true
      if (!required.every((name: string) => name in value)) return false
      return Object.entries(value).every(
        ([name, one]) => allows(propertyNames, name) && allows(properties[name] ?? (rest || {}), one)
      )
    }
    const { dependentRequired = {} } = schema
    return (
      own() &&
      allOf.every((one: Any) => allows(one, value)) &&
      (anyOf?.some((one: Any) => allows(one, value)) ?? true) &&
      Object.entries<Any>(dependentRequired).every(
        ([name, needed]) => !(name in Object(value)) || needed.every((one: string) => one in Object(value))
      )
    )
  }

  const stated: ReadonlyArray<readonly [path: string, good: object, wrong: object, at: string]> = [
    ["/v1/refunds", { invoice_id: company.id }, {}, "deposit_id"],
    ["/v1/refunds", { deposit_id: company.id }, { deposit_id: company.id, amount: 1 }, "currency"],
    ["/v1/vouchers", { amount: 1, currency: "sats" }, { amount: 1, currency: "shells" }, "currency"],
    ["/v1/vouchers", { amount: 1, currency: "sats" }, { amount: 0, currency: "sats" }, "amount"],
    ["/v1/bitcoin/deposit/on-chain", { metadata: { order: "1" } }, { metadata: { "": "1" } }, "metadata"],
    [
      "/v1/bitcoin/deposit/on-chain",
      { metadata: { order: "1" } },
      { metadata: { order: "x".repeat(501) } },
      "metadata.order"
    ],
    ["/v1/bitcoin/deposit/lightning-address", { handle: "" }, { handle: ".dot" }, "handle"],
    [
      "/v1/bitcoin/deposit/lightning-invoice/{invoiceID}/settle",
      { preimage: "0F".repeat(32) },
      { preimage: "0x" },
      "preimage"
    ],
    ["/v1/checkouts", { amount: null, color: "#1d4ed8" }, { amount: null, color: "red" }, "color"],
    [
      "/v1/checkouts",
      { amount: null, return_url: "https://a.example" },
      { amount: null, return_url: "ftp://a.example" },
      "return_url"
    ],
    [
      "/v1/webhook-endpoints",
      { url: "https://a.example", types: ["deposit.*"] },
      { url: "https://a.example", types: ["paid"] },
      "types.0"
    ],
    [
      "/v1/webhook-endpoints",
      { url: "https://a.example" },
      { url: "https://a.example", signature_header: "a b" },
      "signature_header"
    ],
    ["/operator/companies", { name: "a", plan: "free" }, { name: " ", plan: "free" }, "name"],
    ["/operator/tokens", { name: "a", scopes: ["read"] }, { name: "a", scopes: [] }, "scopes"],
    [
      "/operator/adjustments",
      { company_id: company.id, amount_sats: 1, reason: "a" },
      { company_id: company.id, amount_sats: 1, reason: "" },
      "reason"
    ]
  ]
  for (const [path, good, wrong, at] of stated)
    it(`openapi: the schema of POST ${path} rejects ${JSON.stringify(wrong).slice(0, 60)}, as the service does`, async () => {
      const { schema } = document.paths[path].post.requestBody.content["application/json"]
      assert.isTrue(allows(schema, good), JSON.stringify(good))
      assert.isFalse(allows(schema, wrong))
      const key = path.startsWith("/operator/") ? operatorToken : company.key
      const { status, body } = await service.ask("POST", path.replace("{invoiceID}", company.id), {
        key,
        body: wrong
      })
      assert.deepStrictEqual(
        [status, body.error?.issues?.some((issue) => issue.path === at)],
        [400, true],
        JSON.stringify(body)
      )
    })

  it("openapi: the event stream has the same event schema as the list", () => {
    const { paths, components }: Any = customers
    const schemaAt = (path: string, type: string) => paths[path].get.responses["200"].content[type].schema
    assert.deepStrictEqual(schemaAt("/v1/events/stream", "text/event-stream"), {
      $ref: "#/components/schemas/Event"
    })
    assert.deepStrictEqual(components.schemas.EventListResponse.properties.data.items, {
      $ref: "#/components/schemas/Event"
    })
  })

  it("openapi: an operation's id consists of its section and words without numbers", () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    assert.deepStrictEqual(
      ids.filter((id) => !/^[a-z]+(?:[A-Z][a-z]+)*\.[a-z]+(?:[A-Z][a-z]+)*$/.test(id)),
      []
    )
    assert.lengthOf(new Set(ids), ids.length)
  })

  it("openapi: operation ids don't change, because generated clients name their methods after them", () => {
    const ids = operations.map(({ operation }) => String(operation.operationId).split("."))
    const named = (section: string) =>
      ids.flatMap(([of, name = ""]) => (of === section ? [name] : [])).toSorted()
    const kept = {
      receive: [
        "cancelInvoice",
        "createInvoice",
        "createLightningAddress",
        "createOffer",
        "createOnChainAddress",
        "getInvoice",
        "getOffer",
        "getOnChainAddress",
        "listInvoices",
        "listOffers",
        "listOnChainAddresses",
        "settleInvoice"
      ],
      lightningAddresses: [
        "changeLightningAddress",
        "deleteLightningAddress",
        "getLightningAddress",
        "getLightningAddressQr",
        "listLightningAddresses",
        "updateLightningAddress"
      ],
      domains: ["claimDomain", "listDomains"],
      tls: ["askTls"],
      send: ["approve", "confirm", "confirmSend", "estimate", "reject"],
      vouchers: ["cancelVoucher", "cancelVouchers", "createVoucher", "getVoucher", "listVouchers"],
      refunds: ["cancelRefund", "createRefund", "getRefund", "listRefunds"],
      transfers: ["createTransfer", "getTransfer", "listTransfers", "returnTransfer"],
      account: ["account"],
      apiKeys: ["createApiKey", "getApiKey", "listApiKeys", "revokeApiKey"],
      rates: ["rates"],
      read: [
        "adjustment",
        "balance",
        "deposit",
        "depositSplits",
        "exportTransactions",
        "getStatement",
        "payer",
        "search",
        "transactions",
        "withdrawal"
      ],
      operator: [
        "allowKeyFrom",
        "approveKey",
        "chargeCompany",
        "connectWallet",
        "getFees",
        "getKey",
        "getLimits",
        "getWalletConnection",
        "issueKey",
        "limitCompany",
        "limitKey",
        "openCompany",
        "operatorCancelVouchers",
        "rejectWithdrawal",
        "revokeKey",
        "rotateKey",
        "updateCompany",
        "updateCompanyFees",
        "updateCompanyLimits",
        "updateKeyLimits",
        "verifyDomain"
      ],
      reconciliation: ["reconciliation", "stateOwnFunds"],
      health: ["check", "healthz", "readyz"],
      metrics: ["metrics"]
    }
    for (const [section, names] of Object.entries(kept))
      assert.deepStrictEqual(named(section), names, section)
  })

  it("openapi: the comparison with the schema detects differences", () => {
    const schema =
      document.paths["/v1/transactions/balance"].get.responses["200"].content["application/json"].schema
    const right = { balance: 1, held_sats: 0.5, pending_deposits_sats: 0 }
    assert.deepStrictEqual(differences({ status: 200, message: "x", data: right }, schema), [])
    for (const data of [
      {},
      { ...right, balance: "1" },
      { ...right, balance: 1.5 },
      { ...right, more: 1 },
      { balance: 1 },
      null
    ])
      assert.isNotEmpty(differences({ status: 200, message: "x", data }, schema), JSON.stringify(data))
    assert.isNotEmpty(differences({ status: 201, message: "x", data: right }, schema))
  })
})

describe("the documentation", () => {
  const pages = [
    ["/docs/api", "../openapi.json"],
    ["/operator/docs", "openapi.json"]
  ] as const

  for (const [page, documentPath] of pages) {
    it(`docs: ${page} loads nothing from other origins`, async () => {
      const { status, headers, text } = await service.ask("GET", page)
      assert.strictEqual(status, 200)
      assert.match(headers.get("content-type") ?? "", /^text\/html/)
      const sources = [...text.matchAll(/(?:src|href|data-openapi)="([^"]+)"/g)].map(([, url = ""]) => url)
      assert.lengthOf(sources, 3)
      for (const url of sources) assert.notMatch(url, /^\w+:|^\/\//)
      assert.include(text, `data-openapi="${documentPath}"`)
      const [, script = ""] = /<script src="([^"]+)"><\/script>/.exec(text) ?? []
      assert.isTrue(script.startsWith("../docs/api/"))
      const { pathname } = new URL(script, `http://service${page}`)
      const answer = await service.ask("GET", pathname)
      assert.strictEqual(answer.status, 200)
      assert.match(answer.headers.get("content-type") ?? "", /^text\/javascript/)
      assert.strictEqual(answer.headers.get("cache-control"), "public, max-age=31536000, immutable")
      assert.include(answer.text, "createApiReference(document.getElementById")
    })
  }

  it("C55: docs: the content policy allows no other origin, and the page is set to send no request to another origin", async () => {
    for (const [page] of pages) {
      const { headers, text } = await service.ask("GET", page)
      const policy = headers.get("content-security-policy") ?? ""
      assert.match(policy, /^default-src 'none'; /)
      assert.notMatch(policy, /https?:|\*|unsafe-eval/)
      assert.notMatch(policy, /script-src[^;]*unsafe/)
      const [, script = ""] = /<script src="([^"]+)">/.exec(text) ?? []
      const code = (await service.ask("GET", new URL(script, `http://service${page}`).pathname)).text
      const settings = code.slice(code.indexOf("createApiReference(document"))
      for (const setting of [
        '"withDefaultFonts":false',
        '"showDeveloperTools":"never"',
        '"hideClientButton":true',
        '"telemetry":false'
      ])
        assert.include(settings, setting)
    }
  })

  it("docs: the script of another version returns 404", async () => {
    assert.deepStrictEqual(
      seen(await service.ask("GET", "/docs/api/reference-of-another-version.js")),
      bad(404, "not_found")
    )
  })

  it("docs: if an application serves no documentation, /docs links to the reference and the guides", async () => {
    const { status, headers, text } = await service.ask("GET", "/docs")
    assert.deepStrictEqual([status, headers.get("content-type")], [200, "text/html; charset=utf-8"])
    const links = [...text.matchAll(/<a href="([^"]+)">/g)].map(([, link = ""]) => link)
    assert.deepStrictEqual(links, [
      "docs/api",
      "openapi.json",
      "https://github.com/satrail/satrail/tree/HEAD/docs"
    ])
    for (const link of links.slice(0, 2))
      assert.strictEqual((await service.ask("GET", `/${link}`)).status, 200, link)
  })

  for (const path of ["/docs", "/docs/api", "/operator/docs", "/openapi.json", "/operator/openapi.json"]) {
    it(`docs: ${path} is cached, and is compressed for clients that accept compression`, async () => {
      const ask = (headers: Record<string, string>) =>
        service.handler(
          new Request(`http://service${path}`, { headers: { "accept-encoding": "identity", ...headers } })
        )
      const plain = await ask({})
      assert.deepStrictEqual(
        [plain.status, plain.headers.get("content-encoding"), plain.headers.get("vary")],
        [200, null, "Accept-Encoding"]
      )
      const text = await plain.text()

      const gzipped = await ask({ "accept-encoding": "br;q=1.0, gzip;q=0.8, *;q=0.1" })
      assert.strictEqual(gzipped.headers.get("content-encoding"), "gzip")
      assert.strictEqual(gunzipSync(await gzipped.arrayBuffer()).toString(), text)
      assert.isNull((await ask({ "accept-encoding": "gzip;q=0" })).headers.get("content-encoding"))

      const etag = plain.headers.get("etag") ?? ""
      assert.match(etag, /^W\/"[\w-]{22}"$/)
      assert.strictEqual(gzipped.headers.get("etag"), etag)
      for (const known of [etag, `"x", ${etag}`, etag.slice(2), "*"]) {
        const again = await ask({ "if-none-match": known })
        assert.deepStrictEqual([again.status, await again.text(), again.headers.get("etag")], [304, "", etag])
      }
      assert.strictEqual((await ask({ "if-none-match": 'W/"x"' })).status, 200)
    })
  }
})
