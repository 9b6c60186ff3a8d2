import { afterAll, assert, describe, it } from "@effect/vitest"
import { bad, operatorToken, seen, start } from "./Service.ts"
import { suspended } from "./Suspended.ts"

const service = await start()
afterAll(service.dispose)
const [shop, other] = [await service.company(), await service.company()]
const list = async () => (await service.ask("GET", "/operator/suspense", { key: operatorToken })).body.data
const assign = (id: string, companyId: string, key = operatorToken) =>
  service.ask("POST", `/operator/suspense/${id}/assign`, { key, body: { company_id: companyId } })
const balance = async ({ key }: { readonly key: string }) => (await service.ask("GET", "/v1/transactions/balance", { key })).body.data

describe("suspense", () => {
  it("suspense: a payment becomes one deposit of one company, even if it is assigned several times", async () => {
    const id = await suspended(service, shop.id, 30)
    assert.deepInclude((await list())[0], { id, company_id: shop.id, received_sats: 30, assigned_to: null, deposit_id: null })
    const answers = await Promise.all(Array.from({ length: 64 }, () => assign(id, shop.id)))
    assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])
    const [deposit, ...more] = [...new Set(answers.map(({ body }) => body.data.deposit_id))]
    assert.deepStrictEqual(more, [])
    assert.deepStrictEqual(seen(await assign(id, other.id)), bad(409, "already_assigned"))
    assert.deepInclude((await list())[0], { id, assigned_to: shop.id, deposit_id: deposit })
    const row = (await service.ask("GET", `/v1/transactions/deposits/${deposit}`, { key: shop.key })).body.data
    assert.deepInclude(row, { status: "settled", amount_sats: 30 })
    assert.strictEqual((await balance(shop)).balance, 30)
    assert.strictEqual((await balance(other)).balance, 0)
  })

  it("suspense: the company gets an event for the assigned deposit, even if the payment was for another company's invoice", async () => {
    const id = await suspended(service, other.id, 21)
    const { deposit_id } = (await assign(id, shop.id)).body.data
    const { body } = await service.ask("GET", "/v1/events?types=deposit.lightning.completed", { key: shop.key })
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
      seen(await service.ask("POST", "/v1/refunds", { key: shop.key, body: { deposit_id, amount: 1, currency: "sats" } })),
      bad(422, "refund_too_large")
    )
  })

  it("suspense: an unknown payment returns 404, an unknown company returns an error that names the field, and the mend scope is required", async () => {
    const id = await suspended(service, shop.id)
    const none = "018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"
    assert.deepStrictEqual(seen(await assign(none, shop.id)), bad(404, "not_found"))
    const unknown = await assign(id, none)
    assert.deepStrictEqual([unknown.status, unknown.body.error?.issues?.[0]?.path], [400, "company_id"])
    const issued = await service.ask("POST", "/operator/tokens", { key: operatorToken, body: { name: "night", scopes: ["read", "stop"] } })
    assert.deepStrictEqual(seen(await assign(id, shop.id, issued.body.data.token)), bad(403, "scope_required"))
    assert.isNull((await list())[0].assigned_to)
  })

  it("suspense: lists can be limited to payments that are still in suspense, or to assigned ones", async () => {
    const [one, two] = [await suspended(service, shop.id), await suspended(service, shop.id)]
    await assign(one, shop.id)
    const ids = async (status: string) => {
      const { body } = await service.ask("GET", `/operator/suspense?status=${status}&limit=1`, { key: operatorToken })
      return body.data.map(({ id }: { readonly id: string }) => id)
    }
    assert.deepStrictEqual([await ids("open"), await ids("assigned")], [[two], [one]])
    assert.deepStrictEqual(seen(await service.ask("GET", "/operator/suspense?status=x", { key: operatorToken })), bad(400, "malformed"))
  })
})
