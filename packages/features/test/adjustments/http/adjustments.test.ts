import { afterAll, assert, describe, it } from "@effect/vitest"
import { bad, operatorToken, seen, start } from "../../../../http/test/Service.ts"

const service = await start()
afterAll(service.dispose)

const issue = async (name: string, scopes: ReadonlyArray<string> = ["mend", "read"]): Promise<string> =>
  (await service.ask("POST", "/operator/tokens", { key: operatorToken, body: { name, scopes } })).body.data
    .token
const [ada, bob, eve] = [await issue("Ada"), await issue("Bob"), await issue("Eve")]
const [shop, other] = [await service.company(), await service.company()]

const request = (key: string, body: object) => service.ask("POST", "/operator/adjustments", { key, body })
const decide = (key: string, id: string, how: "approve" | "reject" = "approve") =>
  service.ask("POST", `/operator/adjustments/${id}/${how}`, { key })
const requested = async (amount_sats: number, of = shop): Promise<string> => {
  const answer = await request(ada, {
    company_id: of.id,
    amount_sats,
    reason: "credited twice",
    note: "ticket 4711"
  })
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body.data.id
}
const balance = async ({ key }: { readonly key: string }) =>
  (await service.ask("GET", "/v1/transactions/balance", { key })).body.data.balance

describe("adjustments", () => {
  it("adjustments: one operator requests, another approves, and the company sees the entry and its reason", async () => {
    const id = await requested(30.5)
    assert.strictEqual(await balance(shop), 0)
    assert.deepStrictEqual(
      seen(await service.ask("GET", `/v1/transactions/adjustments/${id}`, { key: shop.key })),
      bad(404, "not_found")
    )
    const { status, body } = await decide(bob, id)
    assert.deepStrictEqual(
      [status, body.data.status, body.data.requested_by, body.data.decided_by],
      [200, "booked", "Ada", "Bob"]
    )
    assert.strictEqual(await balance(shop), 30)
    const shown = await service.ask("GET", `/v1/transactions/adjustments/${id}`, { key: shop.key })
    assert.deepInclude(shown.body.data, {
      id,
      amount_sats: 30.5,
      reason: "credited twice",
      company_id: shop.id
    })
    assert.notInclude(shown.text, "4711")
    assert.deepStrictEqual(
      seen(await service.ask("GET", `/v1/transactions/adjustments/${id}`, { key: other.key })),
      bad(404, "not_found")
    )
    const lines = (await service.ask("GET", "/v1/transactions?type=adjustment", { key: shop.key })).body.data
    assert.deepInclude(lines[0], {
      id,
      type: "adjustment",
      rail_type: null,
      status: "settled",
      reason: "credited twice",
      fee_sats: 0
    })
    const events = await service.ask("GET", "/v1/events?types=adjustment.booked", { key: shop.key })
    assert.deepStrictEqual(events.body.data[0].data, shown.body.data)
  })

  it("adjustments: the requester cannot approve an adjustment, even with another token of the same name, but may reject it", async () => {
    const id = await requested(10)
    const before = await balance(shop)
    for (const key of [ada, await issue("  ada "), await issue("Ａda")])
      assert.deepStrictEqual(seen(await decide(key, id)), bad(403, "another_operator_required"))
    assert.strictEqual(await balance(shop), before)
    assert.strictEqual((await decide(ada, id, "reject")).body.data.status, "rejected")
    assert.deepStrictEqual(seen(await decide(bob, id)), bad(409, "adjustment_decided"))
    assert.strictEqual(await balance(shop), before)
  })

  it("adjustments: concurrent approvals by two operators post an adjustment once, and a later rejection does not undo the posting", async () => {
    const before = await balance(shop)
    const id = await requested(10)
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, at) => decide(at % 2 === 0 ? bob : eve, id))
    )
    assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])
    assert.lengthOf(new Set(answers.map(({ body }) => body.data.decided_by)), 1)
    assert.strictEqual(await balance(shop), before + 10)
    assert.deepStrictEqual(seen(await decide(eve, id, "reject")), bad(409, "adjustment_decided"))
  })

  it("adjustments: a debit above the available balance stays pending until the balance covers it", async () => {
    const id = await requested(-50, other)
    const refused = await decide(bob, id)
    assert.deepStrictEqual(seen(refused), bad(422, "insufficient_balance"))
    await decide(bob, await requested(60, other))
    assert.strictEqual((await decide(bob, id)).body.data.status, "booked")
    assert.strictEqual(await balance(other), 10)
    const accounts = (await service.ask("GET", "/operator/adjustments?status=booked&limit=1", { key: bob }))
      .body.data
    assert.deepInclude(accounts[0], { company_id: other.id })
  })

  it("adjustments: errors name the invalid fields, and the mend scope is required", async () => {
    const body = { company_id: shop.id, amount_sats: 5, reason: "a reason" }
    for (const [wrong, path] of [
      [{ amount_sats: 0 }, "amount_sats"],
      [{ amount_sats: 0.0001 }, "amount_sats"],
      [{ reason: " " }, "reason"],
      [{ note: "x".repeat(501) }, "note"]
    ] as const) {
      const { status, body: answer } = await request(ada, { ...body, ...wrong })
      assert.deepStrictEqual([status, answer.error?.issues?.[0]?.path], [400, path])
    }
    const unknown = await request(ada, { ...body, company_id: "018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d" })
    assert.deepStrictEqual(seen(unknown), bad(404, "not_found"))
    const reader = await issue("Rae", ["read", "companies"])
    for (const answer of [await request(reader, body), await decide(reader, await requested(5))])
      assert.deepStrictEqual(seen(answer), bad(403, "scope_required"))
  })
})
