import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { differences, instant, is, text } from "./Shape.ts"
import { issuePaths, operatorToken, start } from "./Service.ts"

const service = await start({
  checks: [
    { name: "database", check: Effect.void },
    { name: "node", check: Effect.void }
  ]
})
afterAll(service.dispose)
const post = (path: string, body?: unknown, key = operatorToken) =>
  service.ask("POST", `/operator${path}`, { key, body })
const patch = (id: string, body: unknown) =>
  service.ask("PATCH", `/operator/companies/${id}`, { key: operatorToken, body })
const balance = (key: string) =>
  service.ask("GET", "/v1/transactions/balance", { key }).then(({ status }) => status)
const open = async (plan = "free") => (await post("/companies", { name: "Example Ltd", plan })).body.data.id
const issue = async (id: string, body: object = {}) =>
  (await post(`/companies/${id}/api-keys`, { name: "till", scopes: ["read", "receive"], ...body })).body.data

describe("companies", () => {
  it("company: fields that a change omits stay the same, and an unknown plan is rejected", async () => {
    const id = await open("paid")
    assert.strictEqual((await patch(id, {})).body.data.plan, "paid")
    const { status, body } = await patch(id, { plan: "gold" })
    assert.deepStrictEqual([status, issuePaths(body)], [400, ["plan"]])
    assert.strictEqual((await patch("018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d", { plan: "free" })).status, 404)
  })

  it("company: a changed plan takes effect immediately", async () => {
    const id = await open("free")
    const { key } = await issue(id)
    const create = () =>
      service.ask("POST", "/v1/bitcoin/deposit/lightning-address", { key, body: { handle: "mine" } })
    assert.strictEqual((await create()).body.error?.code, "plan_required")
    const { status, body } = await patch(id, { plan: "paid" })
    assert.deepStrictEqual([status, body.data.id, body.data.plan], [200, id, "paid"])
    assert.strictEqual((await create()).status, 201)
  })

  it("company: an operator can verify a domain for one company only", async () => {
    const [one, two] = [await open("paid"), await open("paid")]
    const { status, body } = await post(`/companies/${one}/domains`, { domain: "Bücher.example" })
    assert.strictEqual(status, 201)
    assert.deepStrictEqual(
      differences(body.data, {
        domain: is("xn--bcher-kva.example"),
        company_id: is(one),
        verified_at: instant
      }),
      []
    )
    assert.strictEqual((await post(`/companies/${one}/domains`, { domain: "bücher.example" })).status, 201)
    assert.deepStrictEqual(
      (await post(`/companies/${two}/domains`, { domain: "bücher.example" })).body.error?.code,
      "domain_taken"
    )
    const { key } = await issue(one)
    const created = await service.ask("POST", "/v1/bitcoin/deposit/lightning-address", {
      key,
      body: { handle: "a", domain: "BÜCHER.example" }
    })
    assert.strictEqual(created.body.data.address, "a@xn--bcher-kva.example")
  })
})

describe("keys", () => {
  it("API key: a key is shown once, and its scopes determine its access", async () => {
    const id = await open()
    const issued = await issue(id)
    assert.deepStrictEqual(
      differences(issued, {
        id: text,
        key: ["the key", (value) => String(value).startsWith(`sr_regtest_${issued.id}_`)],
        company_id: is(id),
        name: is("till"),
        scopes: is(["read", "receive"]),
        expires_at: is(null),
        limits: is(null),
        allowed_from: is(null),
        approval: is(null),
        created_at: instant
      }),
      []
    )
    assert.strictEqual(await balance(issued.key), 200)
    assert.strictEqual(
      (await service.ask("POST", "/v1/bitcoin/withdraw/confirm", { key: issued.key, body: {} })).body.error
        ?.code,
      "scope_required"
    )
  })

  it("API key: a key may have an expiry time", async () => {
    const { key, expires_at } = await issue(await open(), { expires_at: "2100-01-01T02:00:00+02:00" })
    assert.strictEqual(expires_at, "2100-01-01T00:00:00.000Z")
    assert.strictEqual(await balance(key), 200)
  })

  it("API key: a revoked key stops working immediately, and revoking it again changes nothing", async () => {
    const { id, key } = await issue(await open())
    for (let i = 0; i < 2; i++) {
      const { status, body } = await service.ask("DELETE", `/operator/api-keys/${id}`, { key: operatorToken })
      assert.deepStrictEqual([status, body.data], [200, { id, revoked: true }])
      const {
        status: closed,
        body: { message }
      } = await service.ask("GET", "/v1/transactions/balance", { key })
      assert.deepStrictEqual([closed, message], [401, "This API key was revoked."])
    }
  })

  it("API key: after a rotation, both keys work during the overlap; without an overlap, only the new key works", async () => {
    const first = await issue(await open())
    const second = (await post(`/api-keys/${first.id}/rotate`, { overlap_seconds: 3600 })).body.data
    assert.deepStrictEqual([await balance(first.key), await balance(second.key)], [200, 200])
    assert.deepStrictEqual(
      [second.company_id, second.name, second.scopes],
      [first.company_id, first.name, first.scopes]
    )
    const third = (await post(`/api-keys/${second.id}/rotate`, { overlap_seconds: 0 })).body.data
    assert.deepStrictEqual([await balance(second.key), await balance(third.key)], [401, 200])
  })
})

describe("invalid input", () => {
  const nobody = "018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"
  const cases = async (): Promise<
    ReadonlyArray<readonly [path: string, body: unknown, status: number, at: string]>
  > => {
    const id = await open()
    const { id: keyId } = await issue(id)
    return [
      ["/companies", {}, 400, "name"],
      ["/companies", { name: "", plan: "free" }, 400, "name"],
      ["/companies", { name: " ", plan: "free" }, 400, "name"],
      ["/companies", { name: "a".repeat(201), plan: "free" }, 400, "name"],
      ["/companies", { name: "\0", plan: "free" }, 400, "name"],
      ["/companies", { name: "\ud800", plan: "free" }, 400, "name"],
      ["/companies", { name: "a", plan: "gold" }, 400, "plan"],
      ["/companies", { name: "a", plan: "free", x: 1 }, 400, "x"],
      [`/companies/${id}/api-keys`, { name: "a" }, 400, "scopes"],
      [`/companies/${id}/api-keys`, { name: "a", scopes: [] }, 400, "scopes"],
      [`/companies/${id}/api-keys`, { name: "a", scopes: ["all"] }, 400, "scopes.0"],
      [`/companies/${id}/api-keys`, { name: "a", scopes: "read" }, 400, "scopes"],
      [`/companies/${id}/api-keys`, { name: "a", scopes: ["read"], expires_at: "soon" }, 400, "expires_at"],
      ["/tokens", { name: "a", scopes: [] }, 400, "scopes"],
      ["/tokens", { name: "a", scopes: ["root"] }, 400, "scopes.0"],
      [`/companies/${nobody}/api-keys`, { name: "a", scopes: ["read"] }, 404, ""],
      ["/companies/x/api-keys", { name: "a", scopes: ["read"] }, 404, ""],
      [`/companies/${id}/domains`, { domain: "localhost" }, 400, "domain"],
      [`/companies/${nobody}/domains`, { domain: "example.com" }, 404, ""],
      [`/companies/${id}/domains`, { domain: "pay.example.com" }, 409, ""],
      [`/api-keys/${keyId}/rotate`, {}, 400, "overlap_seconds"],
      [`/api-keys/${keyId}/rotate`, { overlap_seconds: -1 }, 400, "overlap_seconds"],
      [`/api-keys/${keyId}/rotate`, { overlap_seconds: 30 * 24 * 3600 + 1 }, 400, "overlap_seconds"],
      ["/api-keys/nobody/rotate", { overlap_seconds: 0 }, 404, ""]
    ]
  }

  it("operator: malformed requests are rejected, and the error names the field", async () => {
    for (const [path, body, status, at] of await cases()) {
      const answer = await post(path, body)
      const what = `${path} ${JSON.stringify(body)}: ${answer.text}`
      assert.deepStrictEqual(
        [answer.status, answer.body.status, answer.body.data],
        [status, status, null],
        what
      )
      if (status === 400)
        assert.isTrue(
          answer.body.error?.issues?.some((issue) => issue.path === at),
          what
        )
    }
    assert.strictEqual(
      (await service.ask("DELETE", "/operator/api-keys/nobody", { key: operatorToken })).status,
      404
    )
  })
})

describe("operator authentication", () => {
  const routes = [
    ["POST", "/operator/companies"],
    ["POST", "/operator/companies/x/api-keys"],
    ["DELETE", "/operator/api-keys/x"],
    ["POST", "/operator/api-keys/x/rotate"],
    ["PATCH", "/operator/companies/x"],
    ["POST", "/operator/companies/x/domains"],
    ["PATCH", "/operator/reconciliation/own-funds"]
  ] as const

  it("C52: operator: operator routes require an operator token, and no API key can use them, not even one with the admin scope", async () => {
    const { key } = await service.company("paid", "admin", "read", "receive", "send")
    for (const [method, path] of routes) {
      for (const ask of [
        {},
        { key },
        { key: "" },
        { key: `${operatorToken}x` },
        { key: operatorToken.slice(1) }
      ]) {
        const answer = await service.ask(method, path, { ...ask, body: {} })
        assert.deepStrictEqual(
          [answer.status, answer.body.error?.code, answer.headers.get("www-authenticate")],
          [401, "unauthorized", "Bearer"]
        )
      }
    }
  })
})

describe("health", () => {
  it("health: the service's health is reported without a key, in an envelope", async () => {
    const up = await service.ask("GET", "/healthz")
    assert.deepStrictEqual([up.status, up.body], [200, { status: 200, message: "Up", data: { up: true } }])
    const ready = await service.ask("GET", "/readyz")
    assert.deepStrictEqual([ready.status, ready.body.data], [200, { ready: ["database", "node"] }])
  })

  it("readiness: during an outage the process is up but not ready, and the response names the failed check but not the cause", async () => {
    const lacking = await start({
      checks: [
        { name: "database", check: Effect.void },
        { name: "node", check: Effect.fail("10.0.0.1 refused") },
        { name: "chain", check: Effect.die("broken") }
      ]
    })
    assert.strictEqual((await lacking.ask("GET", "/healthz")).status, 200)
    const { status, headers, body, text } = await lacking.ask("GET", "/readyz")
    assert.deepStrictEqual(
      [status, body.status, body.data, body.error?.code, headers.get("retry-after")],
      [503, 503, null, "not_ready", "1"]
    )
    assert.deepStrictEqual(issuePaths(body), ["node", "chain"])
    assert.notInclude(text, "10.0.0.1")
    assert.deepStrictEqual((await lacking.ask("GET", "/readyz/database")).body.data, { ready: ["database"] })
    const node = await lacking.ask("GET", "/readyz/node")
    assert.deepStrictEqual([node.status, issuePaths(node.body)], [503, ["node"]])
    assert.strictEqual((await lacking.ask("GET", "/readyz/weather")).status, 404)
    await lacking.dispose()
  })

  it("readiness: a process that can receive but not send is ready with a warning, and the failed check is reported alone", async () => {
    const sender = {
      name: "sender",
      isOptional: true,
      check: Effect.fail({ reason: "the node refuses to send" })
    }
    const receiving = await start({ checks: [{ name: "node", check: Effect.void }, sender] })
    const { status, body } = await receiving.ask("GET", "/readyz")
    assert.deepStrictEqual(
      [status, body.data],
      [
        200,
        { ready: ["node"], warnings: [{ code: "sender_not_ready", message: "the node refuses to send" }] }
      ]
    )
    const alone = await receiving.ask("GET", "/readyz/sender")
    assert.deepStrictEqual([alone.status, issuePaths(alone.body)], [503, ["sender"]])
    const metrics = await receiving.ask("GET", "/operator/metrics", { key: operatorToken })
    assert.match(metrics.text, /^satrail_ready\{check="sender"\} 0$/m)
    await receiving.dispose()
    const away = await start({
      checks: [{ name: "node", check: Effect.fail({ reason: "lnd is locked" }) }, sender]
    })
    const both = await away.ask("GET", "/readyz")
    assert.deepStrictEqual([both.status, issuePaths(both.body)], [503, ["node", "sender"]])
    await away.dispose()
  })
})
