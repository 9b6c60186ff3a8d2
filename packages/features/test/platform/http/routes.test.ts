import { afterAll, assert, describe, it } from "@effect/vitest"
import { operatorToken, start } from "../../../../http/test/Service.ts"

const service = await start()
afterAll(service.dispose)

const path = "/operator/platform-keys"
const operate = (method: string, at: string, body?: unknown, key = operatorToken) =>
  service.ask(method, at, { key, ...(body !== undefined && { body }) })
const tokenFor = async (...scopes: ReadonlyArray<string>): Promise<string> =>
  (await operate("POST", "/operator/tokens", { name: scopes.join(" and "), scopes })).body.data.token

const company = await service.company()
/** The status with which a key reads the company's account. */
const statusOf = async (key: string): Promise<number> =>
  (await service.ask("GET", "/v1/account", { key, headers: { "Satrail-Account": company.id } })).status

describe("platform keys", () => {
  it("platform: an operator issues a key that moves no money, with limits, addresses and expiry", async () => {
    const asked = {
      name: "marketplace",
      scopes: ["read"],
      limits: { day_sats: 1000 },
      allowed_from: { for: "sending", ranges: ["203.0.113.0/24"] },
      expires_at: "2100-01-01T00:00:00.000Z"
    }
    const { status, body, text } = await operate("POST", path, asked)
    assert.strictEqual(status, 201, text)
    const { key, id } = body.data
    assert.strictEqual(await statusOf(key), 200)
    const list = await operate("GET", path)
    const [shown] = list.body.data
    assert.deepInclude(shown, {
      id,
      name: asked.name,
      scopes: asked.scopes,
      allowed_from: asked.allowed_from,
      expires_at: asked.expires_at,
      approval: null,
      revoked_at: null
    })
    assert.strictEqual(shown.limits.day_sats, 1000)
    assert.notInclude(list.text, key)
  })

  it("platform: a key that sends works once another operator approves it, and until it is revoked", async () => {
    const { data } = (await operate("POST", path, { name: "waiting", scopes: ["send"] })).body
    const [id, key] = [String(data.id), String(data.key)]
    assert.strictEqual(data.approval, "pending")
    assert.strictEqual(await statusOf(key), 401)
    const own = await operate("POST", `${path}/${id}/approve`)
    assert.deepStrictEqual([own.status, own.body.error?.code], [403, "another_operator_required"])
    const approved = await operate("POST", `${path}/${id}/approve`, undefined, await tokenFor("all"))
    assert.strictEqual(approved.body.data.approval, "approved")
    assert.strictEqual(await statusOf(key), 200)
    const stop = await tokenFor("stop")
    assert.strictEqual((await operate("DELETE", `${path}/${id}`, undefined, stop)).status, 200)
    assert.strictEqual(await statusOf(key), 401)
  })

  it("platform: a request for a key ends with its operator's access", async () => {
    const { data: gone } = (await operate("POST", "/operator/tokens", { name: "gone", scopes: ["all"] })).body
    const { id } = (await operate("POST", path, { name: "waiting", scopes: ["send"] }, gone.token)).body.data
    await operate("DELETE", `/operator/tokens/${gone.id}`)
    const late = await operate("POST", `${path}/${id}/approve`)
    assert.strictEqual(late.body.error?.code, "requester_gone")
  })

  it("platform: only operators with the scope `all` issue and approve keys", async () => {
    const companies = await tokenFor("companies", "stop", "loosen", "mend", "read")
    const issued = await operate("POST", path, { name: "marketplace", scopes: ["read"] }, companies)
    assert.strictEqual(issued.body.error?.code, "scope_required")
  })
})
