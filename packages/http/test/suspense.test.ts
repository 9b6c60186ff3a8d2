import { afterAll, assert, describe, it } from "@effect/vitest"
import { bad, operatorToken, seen, start } from "./Service.ts"
import { suspended } from "./Suspended.ts"

const service = await start()
afterAll(service.dispose)
const [shop, other] = [await service.company(), await service.company()]
const list = async () => (await service.ask("GET", "/operator/suspense", { key: operatorToken })).body.data
const issue = async (name: string, scopes: ReadonlyArray<string> = ["mend"]): Promise<string> =>
  (await service.ask("POST", "/operator/tokens", { key: operatorToken, body: { name, scopes } })).body.data
    .token
const [ada, bob, eve] = [await issue("Ada"), await issue("Bob"), await issue("Eve")]
const by = (key: string, id: string, companyId: string) =>
  service.ask("POST", `/operator/suspense/${id}/assign`, { key, body: { company_id: companyId } })
/** Ada requests it, and Bob agrees. */
const assign = async (id: string, companyId: string) => {
  await by(ada, id, companyId)
  return by(bob, id, companyId)
}
const balance = async ({ key }: { readonly key: string }) =>
  (await service.ask("GET", "/v1/transactions/balance", { key })).body.data

describe("suspense", () => {
  it("suspense: one operator requests an assignment, and only another operator's same request credits the company", async () => {
    const id = await suspended(service, shop.id, 40)
    const waiting = { id, requested_for: shop.id, requested_by: "Ada", assigned_to: null, deposit_id: null }
    const before = (await balance(shop)).balance
    const asked = await by(ada, id, shop.id)
    assert.deepStrictEqual([asked.status, asked.body.message], [200, "Assignment requested"])
    assert.deepInclude(asked.body.data, waiting)
    for (const key of [ada, await issue("  ada "), await issue("Ａda")])
      assert.deepStrictEqual(seen(await by(key, id, shop.id)), bad(403, "another_operator_required"))
    assert.deepInclude((await list())[0], waiting)
    assert.strictEqual((await balance(shop)).balance, before)
    const assigned = await by(bob, id, shop.id)
    assert.deepStrictEqual(
      [assigned.status, assigned.body.message, assigned.body.data.assigned_to],
      [200, "Payment assigned", shop.id]
    )
    assert.strictEqual((await balance(shop)).balance, before + 40)
    assert.deepStrictEqual((await by(ada, id, shop.id)).body.data, assigned.body.data)
  })

  it("suspense: a request for another company replaces the earlier one, so two operators must agree on the company", async () => {
    const id = await suspended(service, shop.id, 50)
    const before = [(await balance(shop)).balance, (await balance(other)).balance]
    for (const [key, companyId, name] of [
      [ada, shop.id, "Ada"],
      [bob, other.id, "Bob"],
      [eve, shop.id, "Eve"],
      [eve, other.id, "Eve"]
    ] as const)
      assert.deepInclude((await by(key, id, companyId)).body.data, {
        requested_for: companyId,
        requested_by: name,
        assigned_to: null
      })
    assert.deepStrictEqual([(await balance(shop)).balance, (await balance(other)).balance], before)
    assert.strictEqual((await by(ada, id, other.id)).body.data.assigned_to, other.id)
  })

  it("suspense: a payment becomes one deposit of one company, even if it is assigned several times", async () => {
    const id = await suspended(service, shop.id, 30)
    const [held, elsewhere] = [(await balance(shop)).balance, (await balance(other)).balance]
    assert.deepInclude((await list())[0], {
      id,
      company_id: shop.id,
      received_sats: 30,
      assigned_to: null,
      deposit_id: null
    })
    await by(ada, id, shop.id)
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, at) => by(at % 2 === 0 ? bob : eve, id, shop.id))
    )
    assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])
    const [deposit, ...more] = [...new Set(answers.map(({ body }) => body.data.deposit_id))]
    assert.deepStrictEqual(more, [])
    assert.deepStrictEqual(seen(await assign(id, other.id)), bad(409, "already_assigned"))
    assert.deepInclude((await list())[0], { id, assigned_to: shop.id, deposit_id: deposit })
    const row = (await service.ask("GET", `/v1/transactions/deposits/${deposit}`, { key: shop.key })).body
      .data
    assert.deepInclude(row, { status: "settled", amount_sats: 30 })
    assert.strictEqual((await balance(shop)).balance, held + 30)
    assert.strictEqual((await balance(other)).balance, elsewhere)
  })

  it("suspense: the company gets an event for the assigned deposit, even if the payment was for another company's invoice", async () => {
    const id = await suspended(service, other.id, 21)
    const { deposit_id } = (await assign(id, shop.id)).body.data
    const { body } = await service.ask("GET", "/v1/events?types=deposit.lightning.completed", {
      key: shop.key
    })
    assert.include(
      body.data.map(({ data }: { readonly data: { readonly id: string } }) => data.id),
      deposit_id
    )
  })

  it("suspense: the deposit from an assigned payment can be refunded like any other deposit", async () => {
    await service.fund(shop.key, 10_000)
    const { deposit_id } = (await assign(await suspended(service, shop.id, 2000), shop.id)).body.data
    const refunded = await service.ask("POST", "/v1/refunds", { key: shop.key, body: { deposit_id } })
    assert.deepStrictEqual([refunded.status, refunded.body.data.amount_sats], [201, 2000])
    assert.deepStrictEqual(
      seen(
        await service.ask("POST", "/v1/refunds", {
          key: shop.key,
          body: { deposit_id, amount: 1, currency: "sats" }
        })
      ),
      bad(422, "refund_too_large")
    )
  })

  it("suspense: an unknown payment returns 404, an unknown company returns an error that names the field, and the mend scope is required", async () => {
    const id = await suspended(service, shop.id)
    const none = "018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"
    assert.deepStrictEqual(seen(await assign(none, shop.id)), bad(404, "not_found"))
    const unknown = await by(ada, id, none)
    assert.deepStrictEqual([unknown.status, unknown.body.error?.issues?.[0]?.path], [400, "company_id"])
    assert.deepStrictEqual(
      seen(await by(await issue("night", ["read", "stop"]), id, shop.id)),
      bad(403, "scope_required")
    )
    assert.isNull((await list())[0].assigned_to)
  })

  it("suspense: lists can be limited to payments that are still in suspense, or to assigned ones", async () => {
    const [one, two] = [await suspended(service, shop.id), await suspended(service, shop.id)]
    await assign(one, shop.id)
    const ids = async (status: string) => {
      const { body } = await service.ask("GET", `/operator/suspense?status=${status}&limit=1`, {
        key: operatorToken
      })
      return body.data.map(({ id }: { readonly id: string }) => id)
    }
    assert.deepStrictEqual([await ids("open"), await ids("assigned")], [[two], [one]])
    assert.deepStrictEqual(
      seen(await service.ask("GET", "/operator/suspense?status=x", { key: operatorToken })),
      bad(400, "malformed")
    )
  })
})
