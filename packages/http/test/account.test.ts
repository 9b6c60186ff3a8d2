import { afterAll, assert, describe, it } from "@effect/vitest"
import { operatorToken, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)

const operate = (method: string, path: string, body?: unknown) =>
  service.ask(method, `/operator${path}`, { key: operatorToken, body })
const account = async (key: string) => (await service.ask("GET", "/v1/account", { key })).body.data

const payee = await service.company()
const to = await service.lightningAddress(payee.key, "payee")

describe("GET /v1/account", () => {
  it("account: the response shows the key's company, network and plan fees, and a changed plan takes effect immediately", async () => {
    const { id, key } = await service.company("free")
    const { api_key: apiKey, fees, ...shown } = await account(key)
    assert.deepStrictEqual(shown, {
      id,
      name: "Example Ltd",
      plan: "free",
      network: "regtest",
      frozen: false,
      limits: null,
      remaining: null
    })
    assert.deepStrictEqual([apiKey.limits, apiKey.remaining], [null, null])
    assert.deepStrictEqual(fees, {
      lightning: { base_sats: 0, parts_per_million: 5000 },
      on_chain: { base_sats: 100, parts_per_million: 2000 },
      internal: { base_sats: 0, parts_per_million: 0 },
      routing_allowance: { base_sats: 5, parts_per_million: 5000 }
    })
    await operate("PATCH", `/companies/${id}`, { plan: "paid" })
    const { fees: after, plan } = await account(key)
    assert.deepStrictEqual([plan, after.lightning.parts_per_million], ["paid", 2000])
  })

  it("account: estimates and withdrawals are charged the fees that the account shows", async () => {
    const { key } = await service.company("free")
    await service.fund(key, 100_000)
    const { fees } = await account(key)
    const { destination } = await service.sandbox((sandbox) =>
      sandbox.destination({ type: "lightning_address" })
    )
    const at = ({
      base_sats: base,
      parts_per_million: ppm
    }: {
      readonly base_sats: number
      readonly parts_per_million: number
    }) => base + (10_000 * ppm) / 1_000_000
    const body = { amount: 10_000, currency: "sats", destination }
    const estimate = await service.ask("POST", "/v1/bitcoin/withdraw/estimate", { key, body })
    assert.strictEqual(
      estimate.body.data.fee_sats,
      at(fees.lightning) + at(fees.routing_allowance),
      estimate.text
    )
    const confirmed = await service.ask("POST", "/v1/bitcoin/withdraw/confirm", { key, body })
    assert.strictEqual(confirmed.body.data.fee_sats, estimate.body.data.fee_sats, confirmed.text)
  })

  it("account: fees that an operator sets for one company are validated, apply only to that company, are shown to the operator and the company, and can be removed", async () => {
    const [{ id, key }, other] = [await service.company("free"), await service.company("free")]
    await service.fund(key, 100_000)
    const { destination } = await service.sandbox((sandbox) =>
      sandbox.destination({ type: "lightning_address" })
    )
    const body = { amount: 10_000, currency: "sats", destination }
    const put = await operate("PUT", `/companies/${id}/fees`, {
      lightning: { base_sats: 1.5, parts_per_million: 100 }
    })
    assert.strictEqual(put.status, 200, put.text)
    const own = { lightning: { base_sats: 1.5, parts_per_million: 100 }, on_chain: null, internal: null }
    assert.deepStrictEqual([put.body.data.id, put.body.data.plan, put.body.data.own], [id, "free", own])
    assert.deepStrictEqual((await operate("GET", `/companies/${id}/fees`)).body.data, put.body.data)
    const shown = await account(key)
    assert.deepStrictEqual([shown.fees.lightning, shown.fees], [own.lightning, put.body.data.fees])
    assert.strictEqual((await account(other.key)).fees.lightning.parts_per_million, 5000)
    const estimate = await service.ask("POST", "/v1/bitcoin/withdraw/estimate", { key, body })
    assert.strictEqual(estimate.body.data.fee_sats, 1.5 + 1 + 5 + 50)
    const max_fee_sats = estimate.body.data.fee_sats
    const confirm = () =>
      service.ask("POST", "/v1/bitcoin/withdraw/confirm", { key, body: { ...body, max_fee_sats } })
    assert.strictEqual((await confirm()).body.data.fee_sats, max_fee_sats)
    await operate("PUT", `/companies/${id}/fees`, {})
    assert.strictEqual((await account(key)).fees.lightning.parts_per_million, 5000)
    const refused = await confirm()
    assert.deepStrictEqual(
      [refused.status, refused.body.error?.code, refused.body.error?.fee_sats],
      [409, "fee_changed", 105]
    )
    for (const [wrong, path] of [
      [{ lightning: { parts_per_million: 1_000_001 } }, "lightning.parts_per_million"],
      [{ on_chain: { base_sats: -1 } }, "on_chain.base_sats"],
      [{ internal: { base_sats: 0.0001 } }, "internal.base_sats"]
    ] as const) {
      const { status, body } = await operate("PUT", `/companies/${id}/fees`, wrong)
      assert.deepStrictEqual([status, body.error?.issues?.[0]?.path], [400, path])
    }
  })

  it("account: the response shows the limits and remaining amounts of the company and the requesting key, and says whether the company is frozen but not why", async () => {
    const { id, key } = await service.company()
    await service.fund(key, 100_000)
    await operate("PUT", `/companies/${id}/limits`, { month_sats: 50_000 })
    const issued = (
      await operate("POST", `/companies/${id}/api-keys`, {
        name: "agent",
        scopes: ["send"],
        limits: { day_sats: 10_000 }
      })
    ).body.data
    await service.approve(issued.id)
    await service.ask("POST", "/v1/bitcoin/withdraw/confirm", {
      key: issued.key,
      body: { amount: 1000, currency: "sats", destination: to }
    })
    const shown = await account(issued.key)
    assert.deepStrictEqual([shown.limits.month_sats, shown.remaining.month_sats], [50_000, 49_000])
    const { id: keyId, limits, remaining } = shown.api_key
    assert.deepStrictEqual([keyId, limits.day_sats, remaining.day_sats], [issued.id, 10_000, 9000])
    assert.strictEqual(
      (await account(key)).api_key.limits,
      null,
      "only the requesting key's limits are shown"
    )
    await operate("POST", `/companies/${id}/freeze`, { reason: "a stolen key", pending: "wait" })
    const frozen = await service.ask("GET", "/v1/account", { key })
    assert.isTrue(frozen.body.data.frozen)
    assert.notInclude(frozen.text, "stolen")
  })
})
