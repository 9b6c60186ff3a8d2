import { afterAll, assert, describe, it } from "@effect/vitest"
import { operatorToken, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)

const ask = (method: string, path: string, key: string, body?: unknown) =>
  service.ask(method, `/operator${path}`, { key, ...(body !== undefined && { body }) })
const tokenOf = async (scopes: ReadonlyArray<string>): Promise<string> =>
  (await ask("POST", "/tokens", operatorToken, { name: scopes.join(" "), scopes })).body.data.token

const { id } = await service.company("free")
const apiKey: string = (
  await ask("POST", `/companies/${id}/api-keys`, operatorToken, { name: "till", scopes: ["send"] })
).body.data.id
const [stop, companies, loosen] = [
  await tokenOf(["stop"]),
  await tokenOf(["companies"]),
  await tokenOf(["loosen"])
]

const full = {
  day_sats: 1000,
  approval_above_sats: 500,
  recipient_types: ["lightning_invoice", "lnurl"],
  recipients: ["ada@example.com"]
}
const looser: Readonly<Record<string, object>> = {
  "all of them removed": {},
  "one raised": { ...full, day_sats: 1001 },
  "one removed": { ...full, day_sats: null },
  "the approval threshold raised": { ...full, approval_above_sats: 501 },
  "the approval threshold removed": { ...full, approval_above_sats: null },
  "another destination type": { ...full, recipient_types: ["lightning_invoice", "chain_address"] },
  "any destination type": { ...full, recipient_types: null },
  "another recipient": { ...full, recipients: ["ada@example.com", "bob@example.com"] }
}

describe("the stop and loosen scopes of operators", () => {
  for (const [of, path] of [
    ["a company", `/companies/${id}/limits`],
    ["a key", `/api-keys/${apiKey}/limits`]
  ] as const) {
    for (const [what, body] of Object.entries(looser))
      it(`operator scopes: the limits of ${of}: loosening them (${what}) requires the loosen scope, and the stop and companies scopes are not enough`, async () => {
        assert.strictEqual((await ask("PUT", path, loosen, full)).status, 200)
        for (const token of [stop, companies]) {
          const refused = await ask("PUT", path, token, body)
          assert.deepStrictEqual([refused.status, refused.body.error?.code], [403, "scope_required"])
        }
        assert.strictEqual((await ask("PUT", path, loosen, body)).status, 200)
      })

    it(`operator scopes: the limits of ${of}: a token with the stop scope can tighten each limit, but cannot loosen any, even with PATCH`, async () => {
      await ask("PUT", path, loosen, full)
      const tighter = {
        day_sats: 999,
        approval_above_sats: 0,
        recipient_types: ["lnurl"],
        recipients: [],
        hour_sats: 5
      }
      assert.strictEqual((await ask("PATCH", path, stop, tighter)).status, 200)
      assert.strictEqual((await ask("PATCH", path, stop, { hour_sats: 6 })).status, 403)
      assert.strictEqual((await ask("PATCH", path, companies, { hour_sats: null })).status, 403)
    })
  }

  it("operator scopes: the stop scope is enough to narrow a key's address ranges, but widening them requires the loosen scope", async () => {
    const path = `/api-keys/${apiKey}/allowed-from`
    const put = async (token: string, allowed_from: object | null) =>
      (await ask("PUT", path, token, { allowed_from })).status
    assert.strictEqual(await put(stop, { for: "everything", ranges: ["203.0.113.0/24"] }), 200)
    assert.strictEqual(await put(stop, { for: "everything", ranges: ["203.0.113.7"] }), 200)
    for (const wider of [
      null,
      { for: "everything", ranges: ["203.0.113.0/24"] },
      { for: "sending", ranges: ["203.0.113.7"] }
    ]) {
      assert.strictEqual(await put(stop, wider), 403)
      assert.strictEqual(await put(companies, wider), 403)
    }
    assert.strictEqual(await put(loosen, null), 200)
  })

  it("operator scopes: the stop scope is enough to pause payments and freeze a company, but resuming and unfreezing require the loosen scope", async () => {
    const freeze = { reason: "reported key theft", pending: "wait" }
    assert.strictEqual((await ask("POST", "/pause", stop, { what: "sending" })).status, 200)
    assert.strictEqual((await ask("POST", `/companies/${id}/freeze`, stop, freeze)).status, 200)
    for (const path of [`/companies/${id}`, `/companies?search=${id}`]) {
      const { data } = (await ask("GET", path, operatorToken)).body
      const { since: _, ...frozen } = [data].flat()[0].frozen
      assert.deepStrictEqual(frozen, freeze)
    }
    for (const token of [stop, companies]) {
      assert.strictEqual((await ask("POST", "/resume", token, { what: "sending" })).status, 403)
      assert.strictEqual((await ask("POST", `/companies/${id}/unfreeze`, token)).status, 403)
    }
    assert.strictEqual((await ask("POST", "/resume", loosen, { what: "sending" })).status, 200)
    assert.strictEqual((await ask("POST", `/companies/${id}/unfreeze`, loosen)).status, 200)
  })
})
