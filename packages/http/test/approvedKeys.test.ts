import { afterAll, assert, describe, it } from "@effect/vitest"
import { link } from "@satrail/features/audit/core/AuditLog"
import { Effect } from "effect"
import { bad, operatorToken, seen, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)

const ask = (method: string, path: string, key: string, body?: unknown) =>
  service.ask(method, `/operator${path}`, { key, ...(body !== undefined && { body }) })
const tokenOf = async (name: string, scopes: ReadonlyArray<string> = ["companies"]): Promise<string> =>
  (await ask("POST", "/tokens", operatorToken, { name, scopes })).body.data.token
const [ada, adasOther, bob, stop] = [
  await tokenOf("Ada"),
  await tokenOf(" ADA"),
  await tokenOf("Bob"),
  await tokenOf("Stop", ["stop"])
]

const issue = async (id: string, scopes: ReadonlyArray<string>) =>
  (await ask("POST", `/companies/${id}/api-keys`, ada, { name: "till", scopes })).body.data
const approve = (key: { readonly id: string }, token: string) =>
  ask("POST", `/api-keys/${key.id}/approve`, token)
const opens = async (key: string) => (await service.ask("GET", "/v1/account", { key })).status
/** Event types and approval states the company received for the key. */
const told = async (
  key: string,
  id: string
): Promise<ReadonlyArray<readonly [type: string, approval: string]>> => {
  const { data } = (await service.ask("GET", `/v1/events?types=api_key.*&subject=${id}`, { key })).body
  return data.map(
    ({ type, data }: { readonly type: string; readonly data: { readonly approval: string } }) => [
      type,
      data.approval
    ]
  )
}

/** Opens a company with money. */
const funded = async () => {
  const company = await service.company()
  await service.fund(company.key, 1000)
  return company
}

describe("API keys that require a second operator", () => {
  for (const scopes of [["admin"], ["send"], ["read", "approve"]])
    it(`second operator: a key with ${scopes.join()} for a company with a balance has no access until another operator approves it`, async () => {
      const { id, key } = await funded()
      const issued = await issue(id, scopes)
      assert.strictEqual(issued.approval, "pending")
      const waiting = await service.ask("GET", "/v1/account", { key: issued.key })
      assert.deepStrictEqual(seen(waiting), bad(401, "unauthorized"))
      assert.include(waiting.body.message, "approves it, in the console or with `satrail keys approve`")
      assert.deepStrictEqual(await told(key, issued.id), [["api_key.requested", "pending"]])
      for (const same of [ada, adasOther])
        assert.deepStrictEqual(seen(await approve(issued, same)), bad(403, "another_operator_required"))
      assert.strictEqual(await opens(issued.key), 401)
      const approved = await approve(issued, bob)
      assert.deepStrictEqual([approved.status, approved.body.data.approval], [200, "approved"])
      assert.strictEqual(await opens(issued.key), 200)
      assert.strictEqual((await approve(issued, bob)).status, 200)
      assert.sameDeepMembers(
        [...(await told(key, issued.id))],
        [
          ["api_key.requested", "pending"],
          ["api_key.approved", "approved"]
        ]
      )
    })

  it("second operator: a key that cannot move funds requires no approval", async () => {
    const { id } = await funded()
    const issued = await issue(id, ["read", "receive", "webhooks"])
    assert.deepStrictEqual([issued.approval, await opens(issued.key)], [null, 200])
  })

  it("second operator: a new company's keys require no approval", async () => {
    const { id } = (await ask("POST", "/companies", ada, { name: "new", plan: "free" })).body.data
    const keys = [await issue(id, ["admin"]), await issue(id, ["send"])]
    assert.deepStrictEqual(
      keys.map(({ approval }) => approval),
      [null, null]
    )
    assert.strictEqual(await opens(keys[0].key), 200)
  })

  it("second operator: once a company has used a key, its next key requires approval even without a balance", async () => {
    const { id } = (await ask("POST", "/companies", ada, { name: "used", plan: "free" })).body.data
    const first = await issue(id, ["admin"])
    assert.strictEqual(await opens(first.key), 200)
    // The key's use is recorded in the background, possibly after the response.
    while ((await ask("GET", `/api-keys/${first.id}`, operatorToken)).body.data.last_used_at === null)
      await new Promise(setImmediate)
    assert.strictEqual((await issue(id, ["admin"])).approval, "pending")
  })

  it("second operator: a rotated key requires approval too, and the old key works until then", async () => {
    const { id } = await funded()
    const old = await issue(id, ["admin"])
    await approve(old, bob)
    const next = (await ask("POST", `/api-keys/${old.id}/rotate`, ada, { overlap_seconds: 0 })).body.data
    assert.deepStrictEqual(
      [next.approval, await opens(next.key), await opens(old.key)],
      ["pending", 401, 200]
    )
    assert.strictEqual((await approve(next, bob)).status, 200)
    assert.deepStrictEqual([await opens(next.key), await opens(old.key)], [200, 401])
  })

  it("second operator: a key that was revoked while pending cannot be approved", async () => {
    const { id } = await funded()
    const issued = await issue(id, ["send"])
    assert.strictEqual((await ask("DELETE", `/api-keys/${issued.id}`, stop)).status, 200)
    assert.deepStrictEqual(seen(await approve(issued, bob)), bad(404, "not_found"))
    assert.strictEqual(await opens(issued.key), 401)
  })

  it("second operator: a token with the stop scope cannot approve", async () => {
    const { id } = await funded()
    assert.deepStrictEqual(seen(await approve(await issue(id, ["send"]), stop)), bad(403, "scope_required"))
  })

  it("second operator: the audit log shows who requested a key and who approved it", async () => {
    const { id } = await funded()
    const issued = await issue(id, ["send"])
    await approve(issued, bob)
    await service.run(Effect.repeat(link, { while: (count) => count > 0 }))
    const { data } = (await ask("GET", `/audit?company_id=${id}&limit=10`, operatorToken)).body
    const by = data.map(({ verb, actor_name }: { readonly verb: string; readonly actor_name: string }) => [
      verb,
      actor_name
    ])
    assert.deepStrictEqual(by.slice(0, 2), [
      ["operator.approveKey", "Bob"],
      ["operator.issueKey", "Ada"]
    ])
    assert.deepInclude(data[0].changes, {
      record: "api_keys",
      id: issued.id,
      field: "approved_by",
      before: null,
      after: "Bob"
    })
  })
})
