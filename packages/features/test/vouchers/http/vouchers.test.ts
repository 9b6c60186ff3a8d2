import { afterAll, assert, describe, it } from "@effect/vitest"
import { StoreUnavailable } from "@satrail/core/ledger/Journal"
import { Vouchers } from "../../../src/vouchers/core/Vouchers.ts"
import { Context, Effect, Redacted } from "effect"
import * as Seal from "@satrail/http/wire/Seal"
import { bad, issuePaths, operatorToken, seen, start } from "../../../../http/test/Service.ts"
import { get, refusal } from "../../../../http/test/Wallet.ts"

const service = await start()
afterAll(service.dispose)
const path = "/v1/vouchers"
const { key } = await service.company()
await service.fund(key, 100_000)
const create = async (body: Readonly<Record<string, unknown>>) => {
  const answer = await service.ask("POST", path, { key, body })
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body.data
}

describe("vouchers", () => {
  it("voucher: by default, a voucher is open for a day and has no description", async () => {
    const { created_at, expires_at, status, description, withdrawal_id } = await create({
      amount: 21,
      currency: "sats"
    })
    assert.deepStrictEqual([status, description, withdrawal_id], ["open", "", null])
    assert.strictEqual(Date.parse(expires_at) - Date.parse(created_at), 24 * 3600 * 1000)
    const other = await create({
      amount: 21,
      currency: "sats",
      expiry_seconds: 60,
      description: "Tea",
      metadata: { table: "7" }
    })
    assert.strictEqual(Date.parse(other.expires_at) - Date.parse(other.created_at), 60_000)
    assert.deepStrictEqual([other.description, other.metadata], ["Tea", { table: "7" }])
  })

  it("voucher: a voucher may be created in fiat, at the current rate", async () => {
    const { amount_sats, fiat } = await create({ amount: 1.5, currency: "usd" })
    assert.strictEqual(amount_sats, 3000)
    const { rate_at: _, ...rest } = fiat
    assert.deepStrictEqual(rest, { currency: "usd", amount: "1.50", rate: "50000", source: "simulated" })
  })

  it("voucher: a key with the send scope can cancel a voucher, but a key with the read scope cannot", async () => {
    const { id, company_id } = await create({ amount: 21, currency: "sats" })
    const [reader, sender] = [
      await service.keyFor(company_id, "read"),
      await service.keyFor(company_id, "send")
    ]
    assert.deepStrictEqual(
      seen(await service.ask("POST", `${path}/${id}/cancel`, { key: reader })),
      bad(403, "scope_required")
    )
    for (let i = 0; i < 2; i++)
      assert.strictEqual(
        (await service.ask("POST", `${path}/${id}/cancel`, { key: sender })).body.data.status,
        "canceled"
      )
  })
})

describe("links that outlive their maker", () => {
  it("voucher: links of a revoked key and of its refunds are listed by maker, and canceled by the company or the operator; a rotated key's stay", async () => {
    const { key: admin, id: company } = await service.company()
    await service.fund(admin, 100_000)
    const [thief, other, sender] = [
      await service.keyFor(company, "admin"),
      await service.keyFor(company, "send"),
      await service.keyFor(company, "send")
    ]
    const idOf = (text: string) => text.split("_")[2] ?? ""
    const open = async (by: string) =>
      (await service.ask("POST", path, { key: by, body: { amount: 21, currency: "sats" } })).body.data
    const [deposit] = (await service.ask("GET", "/v1/transactions", { key: admin })).body.data
    const refund = (
      await service.ask("POST", "/v1/refunds", {
        key: thief,
        body: { deposit_id: deposit.id, amount: 100, currency: "sats" }
      })
    ).body.data
    const stolen = [await open(thief), await open(thief)]
    const kept = [await open(other), await open(sender)]
    assert.deepStrictEqual(
      [stolen[0].created_by, kept[0].created_by, refund.created_by],
      [idOf(thief), idOf(other), idOf(thief)]
    )
    const token = operatorToken
    await service.ask("POST", `/operator/api-keys/${idOf(other)}/rotate`, {
      key: token,
      body: { overlap_seconds: 0 }
    })
    await service.ask("DELETE", `/operator/api-keys/${idOf(thief)}`, { key: token })
    const query = `created_by=${idOf(thief)}&status=open`
    for (const [list, key] of [
      [path, admin],
      [`/operator/companies/${company}/vouchers`, token]
    ] as const)
      assert.sameMembers(
        (await service.ask("GET", `${list}?${query}`, { key })).body.data.map(
          ({ id }: { readonly id: string }) => id
        ),
        [...stolen.map(({ id }) => id), refund.voucher_id]
      )
    const cancel = (key: string, at: string, created_by: unknown = idOf(thief)) =>
      service.ask("POST", at, { key, body: { created_by } })
    const ofOperator = `/operator/companies/${company}/vouchers/cancel`
    assert.deepStrictEqual(seen(await cancel(sender, `${path}/cancel`)), bad(403, "scope_required"))
    assert.deepStrictEqual(issuePaths((await cancel(admin, `${path}/cancel`, "")).body), ["created_by"])
    assert.deepStrictEqual(
      seen(await cancel(token, `/operator/companies/${stolen[0].id}/vouchers/cancel`)),
      bad(404, "not_found")
    )
    assert.deepStrictEqual((await cancel(token, ofOperator)).body.data, { canceled: 3 })
    assert.deepStrictEqual((await cancel(admin, `${path}/cancel`)).body.data, { canceled: 0 })
    for (const { id } of stolen)
      assert.strictEqual(
        (await service.ask("GET", `${path}/${id}`, { key: admin })).body.data.status,
        "canceled"
      )
    for (const { id } of kept)
      assert.strictEqual((await service.ask("GET", `${path}/${id}`, { key: admin })).body.data.status, "open")
  })
})

describe("errors for wallets", () => {
  it("LUD-03: outages and crashes are reported as LNURL errors", async () => {
    const away = new StoreUnavailable({ operation: "voucherBySecret", cause: "no answer" })
    const real = await service.run(Vouchers)
    const spoiled = await start({
      instead: Context.make(Vouchers, {
        ...real,
        offer: () => Effect.fail(away),
        claim: () => Effect.die(new Error("a secret cause"))
      })
    })
    assert.strictEqual(
      await refusal(get(spoiled, "https://pay.example.com/lnurlw?k1=00")),
      "The service cannot pay right now. Try again soon"
    )
    assert.match(
      await refusal(get(spoiled, "https://pay.example.com/lnurlw/callback?k1=00&pr=x")),
      /^Internal error\. Reference: [0-9a-f-]{36}$/
    )
    await spoiled.dispose()
  })
})

describe("vouchers with an Idempotency-Key", () => {
  const body = { amount: 21, currency: "sats" }
  const headers = { "idempotency-key": "lost-answer" }

  it("voucher: if no secret is set to encrypt the stored response, an idempotency key is rejected and no voucher is created", async () => {
    const bare = await start({ sealer: undefined })
    const company = await bare.company()
    await bare.fund(company.key, 1000)
    assert.deepStrictEqual(
      seen(await bare.ask("POST", path, { key: company.key, body, headers })),
      bad(400, "idempotency_not_supported")
    )
    assert.deepStrictEqual((await bare.ask("GET", path, { key: company.key })).body.data, [])
    assert.strictEqual((await bare.ask("POST", path, { key: company.key, body })).status, 201)
    await bare.dispose()
  })

  it("voucher: if the stored response of a request can no longer be read, a repeated request returns an error and creates no second voucher", async () => {
    const sealer = Seal.make(Redacted.make("before"))
    let current = sealer
    const turning = await start({
      sealer: { seal: (...all) => current.seal(...all), open: (...all) => current.open(...all) }
    })
    const company = await turning.company()
    await turning.fund(company.key, 1000)
    const ask = () => turning.ask("POST", path, { key: company.key, body, headers })
    const first = await ask()
    current = Seal.make(Redacted.make("after"))
    assert.deepStrictEqual(seen(await ask()), bad(409, "answer_not_readable"))
    assert.lengthOf((await turning.ask("GET", path, { key: company.key })).body.data, 1)
    current = sealer
    assert.strictEqual((await ask()).text, first.text)
    await turning.dispose()
  })
})
