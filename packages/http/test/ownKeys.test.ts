import { afterAll, assert, describe, it } from "@effect/vitest"
import * as OwnKeys from "@satrail/core/accounts/OwnKeys"
import { link } from "@satrail/features/audit/core/AuditLog"
import { Context, Effect } from "effect"
import * as Acting from "../src/edge/Acting.ts"
import { bad, cookieIn, fromConsole, operatorToken, seen, start } from "./Service.ts"

// A company manages its own keys. A new key must not be able to do more than the key that creates it, or it
// would bypass limits and approvals.

const service = await start({ instead: Context.make(Acting.Proxies, 1), http: { console: true } })
afterAll(service.dispose)

const path = "/v1/api-keys"
const till = { name: "till 3", scopes: ["receive", "read"] }
const from = (address: string) => ({ "x-forwarded-for": address })
const create = (key: string, body: object = till, headers: Record<string, string> = {}) =>
  service.ask("POST", path, { key, body, headers })
const list = async (key: string) => (await service.ask("GET", path, { key })).body.data
const issuePath = (companyId: string) => `/operator/companies/${companyId}/api-keys`
const issue = async (companyId: string, body: object) => {
  const answer = await service.ask("POST", issuePath(companyId), {
    key: operatorToken,
    body: { name: "admin", scopes: ["admin"], ...body }
  })
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body.data
}
const balance = (key: string) => service.ask("GET", "/v1/transactions/balance", { key })

describe("a company's own keys", () => {
  it("own keys: a created key's scopes determine its access, and the list of keys contains no secrets", async () => {
    const { id, key } = await service.company()
    const made = await create(key)
    assert.strictEqual(made.status, 201, made.text)
    assert.deepInclude(made.body.data, {
      ...till,
      company_id: id,
      limits: null,
      allowed_from: null,
      expires_at: null
    })
    assert.strictEqual((await balance(made.body.data.key)).status, 200)
    const rows = await list(key)
    // Both may be created in the same millisecond.
    assert.sameMembers(
      rows.map(({ name }: { readonly name: string }) => name),
      ["till 3", "test"]
    )
    const text = JSON.stringify(rows)
    for (const one of [key, made.body.data.key]) assert.notInclude(text, one.split("_").at(-1) ?? "")
    const one = await service.ask("GET", `${path}/${made.body.data.id}`, { key })
    assert.deepInclude(one.body.data, { id: made.body.data.id, remaining: null })
  })

  it("own keys: no created key can send, approve or create keys, whatever the request", async () => {
    const { key } = await service.company()
    for (const scope of ["send", "approve", "admin"])
      assert.deepStrictEqual(
        seen(await create(key, { name: "x", scopes: ["read", scope] })),
        bad(400, "malformed"),
        scope
      )
    assert.deepStrictEqual(seen(await create(key, { name: "x", scopes: [] })), bad(400, "malformed"))
    const made = (await create(key, { name: "x", scopes: [...OwnKeys.scopes] })).body.data.key
    await service.fund(key, 10_000)
    const withdrawal = { amount: 1000, currency: "sats", destination: "a@wallet.example" }
    for (const [to, body] of [
      ["/v1/bitcoin/withdraw/confirm", withdrawal],
      ["/v1/vouchers", { amount: 1, currency: "sats" }],
      [path, till]
    ] as const)
      assert.deepStrictEqual(
        seen(await service.ask("POST", to, { key: made, body })),
        bad(403, "scope_required"),
        to
      )
  })

  it("own keys: only a key with the admin scope can list, create or revoke keys", async () => {
    const { id } = await service.company()
    const key = await service.keyFor(id, "read", "receive", "send", "approve", "webhooks")
    const [, , keyId = ""] = key.split("_")
    for (const [method, to] of [
      ["GET", path],
      ["GET", `${path}/${keyId}`],
      ["DELETE", `${path}/${keyId}`]
    ] as const)
      assert.deepStrictEqual(seen(await service.ask(method, to, { key })), bad(403, "scope_required"), method)
    assert.deepStrictEqual(seen(await create(key)), bad(403, "scope_required"))
  })

  it("own keys: a revoked key stops working, and a key may revoke itself", async () => {
    const { key } = await service.company()
    const { data } = (await create(key)).body
    const revoked = await service.ask("DELETE", `${path}/${data.id}`, { key })
    assert.deepStrictEqual(revoked.body.data, { id: data.id, revoked: true })
    assert.deepStrictEqual(seen(await balance(data.key)), bad(401, "unauthorized"))
    assert.isString((await list(key)).find(({ id }: { readonly id: string }) => id === data.id).revoked_at)
    const [, , id = ""] = key.split("_")
    assert.strictEqual((await service.ask("DELETE", `${path}/${id}`, { key })).status, 200)
    assert.deepStrictEqual(seen(await balance(key)), bad(401, "unauthorized"))
  })

  it("own keys: a created key expires no later than its creator", async () => {
    const { id } = await service.company()
    const by = await issue(id, { expires_at: "2040-01-01T00:00:00.000Z" })
    assert.strictEqual((await create(by.key)).body.data.expires_at, by.expires_at)
    const sooner = "2039-01-01T00:00:00.000Z"
    assert.strictEqual((await create(by.key, { ...till, expires_at: sooner })).body.data.expires_at, sooner)
    const later = await create(by.key, { ...till, expires_at: "2041-01-01T00:00:00.000Z" })
    assert.deepStrictEqual(
      [seen(later), later.body.error?.issues?.[0]?.path],
      [bad(400, "malformed"), "expires_at"]
    )
  })

  it("own keys: a created key is limited to its creator's addresses", async () => {
    const { id } = await service.company()
    const allowed_from = { for: "everything", ranges: ["203.0.113.0/24"] }
    const by = await issue(id, { allowed_from })
    const inside = from("203.0.113.9")
    const made = await create(by.key, till, inside)
    assert.deepStrictEqual(made.body.data.allowed_from, allowed_from)
    const elsewhere = await service.ask("GET", "/v1/transactions/balance", {
      key: made.body.data.key,
      headers: from("198.51.100.1")
    })
    assert.deepStrictEqual(seen(elsewhere), bad(403, "address_not_allowed"))
    const wider = await create(
      by.key,
      { ...till, allowed_from: { for: "everything", ranges: ["0.0.0.0/0"] } },
      inside
    )
    assert.deepStrictEqual(
      [seen(wider), wider.body.error?.issues?.[0]?.path],
      [bad(400, "malformed"), "allowed_from"]
    )
  })

  it("own keys: the number of active keys is limited, and revoking a key makes room for a new key", async () => {
    const { id, key } = await service.company()
    for (let i = 1; i < OwnKeys.maxOpen; i++) assert.strictEqual((await create(key)).status, 201)
    assert.deepStrictEqual(seen(await create(key)), bad(409, "too_many_api_keys"))
    await issue(id, {}) // the operator is not limited
    const [, { id: old }, { id: older }] = await list(key)
    for (const one of [old, older]) await service.ask("DELETE", `${path}/${one}`, { key })
    assert.strictEqual((await create(key)).status, 201)
  })

  it("own keys: a console user must re-enter the key to create or revoke keys, and the audit log names the actor", async () => {
    const { key } = await service.company()
    const own = { ...fromConsole, ...from("192.0.2.1") }
    const cookie = cookieIn(
      await service.ask("POST", "/console/session", { body: { credential: key }, headers: own })
    )
    const ask = (method: string, to: string, body?: object) =>
      service.ask(method, to, { headers: { ...own, cookie }, body })
    const [, , id = ""] = key.split("_")
    assert.strictEqual((await ask("GET", path)).status, 200)
    assert.deepStrictEqual(seen(await ask("POST", path, till)), bad(403, "step_up_required"))
    assert.deepStrictEqual(seen(await ask("DELETE", `${path}/${id}`)), bad(403, "step_up_required"))
    await ask("POST", "/console/session/step-up", { credential: key })
    assert.strictEqual((await ask("POST", path, till)).status, 201)
    await service.run(Effect.repeat(link, { while: (count) => count > 0 }))
    const { data } = (await service.ask("GET", "/v1/audit", { key })).body
    const entry = data.find(({ verb }: { readonly verb: string }) => verb === "apiKeys.createApiKey")
    assert.deepInclude(entry, { actor_id: id, outcome: "done" })
  })
})
