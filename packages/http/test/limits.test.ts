import { afterAll, assert, describe, it } from "@effect/vitest"
import { bad, operatorToken, seen, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)

const confirmed = "/v1/bitcoin/withdraw/confirm"
const operate = (method: string, path: string, body?: unknown) =>
  service.ask(method, `/operator${path}`, { key: operatorToken, body })

/** A company with money, and a key with these limits. */
const limited = async (limits: object, sats = 100_000) => {
  const company = await service.company()
  const issued = (
    await operate("POST", `/companies/${company.id}/api-keys`, { name: "agent", scopes: ["send"], limits })
  ).body.data
  await service.fund(company.key, sats)
  return { ...company, admin: company.key, key: issued.key, keyId: issued.id, limits: issued.limits }
}

/** Another company's Lightning address. Payments to it cost no network fee. */
const payee = await service.company()
const to = await service.lightningAddress(payee.key, "payee")

const send = (key: string, amount: number, destination = to) =>
  service.ask("POST", confirmed, { key, body: { amount, currency: "sats", destination } })

/** The amount plus its fees. */
const cost = async (key: string, amount: number): Promise<number> => {
  const { body } = await service.ask("POST", "/v1/bitcoin/withdraw/estimate", {
    key,
    body: { amount, currency: "sats", destination: to }
  })
  return amount + body.data.fee_sats
}

const give = (key: string, amount: number) =>
  service.ask("POST", "/v1/vouchers", { key, body: { amount, currency: "sats" } })
const shown = async (id: string) => (await operate("GET", `/api-keys/${id}`)).body.data

describe("the limits of a key", () => {
  it("C30: limits: of 64 concurrent withdrawals, only as many succeed as the limit allows; the errors state the remaining amount and the reset time", async () => {
    const { admin, key, keyId } = await limited({ day_sats: 10_000 }, 100_000)
    const each = await cost(admin, 900)
    const room = Math.floor(10_000 / each)
    const beganAtMillis = Date.now()
    const answers = await Promise.all(Array.from({ length: 64 }, () => send(key, 900)))
    const held = answers.filter(({ status }) => status === 201).length
    assert.strictEqual(held, room)
    const refused = answers.find(({ status }) => status !== 201) ?? assert.fail("every request was held")
    assert.deepStrictEqual(seen(refused), bad(422, "limit_exceeded"))
    const { limit, remaining_sats = -1, frees_at = "" } = refused.body.error ?? assert.fail("no error")
    assert.strictEqual(limit, "day_sats")
    assert.closeTo(remaining_sats, 10_000 - room * each, 0.001)
    const hours = (Date.parse(frees_at ?? "") - beganAtMillis) / 3_600_000
    assert.isTrue(hours > 24 && hours <= 24.51, frees_at ?? "")
    const { remaining } = await shown(keyId)
    assert.deepStrictEqual(remaining, {
      hour_sats: null,
      day_sats: Math.floor(10_000 - room * each),
      month_sats: null,
      day_count: null
    })
    assert.strictEqual(
      (await send(admin, 900)).status,
      201,
      "the limit of one key does not apply to another key"
    )
  })

  it("limits: withdrawals can be limited by amount, type and recipient, and a voucher counts as a payment to an unknown recipient", async () => {
    const each = await limited({ per_withdrawal_sats: 500 })
    const tooMuch = await send(each.key, 501)
    assert.deepStrictEqual(seen(tooMuch), bad(422, "limit_exceeded"))
    const { limit, remaining_sats, frees_at } = tooMuch.body.error ?? assert.fail("no error")
    assert.deepStrictEqual([limit, remaining_sats, frees_at], ["per_withdrawal_sats", 500, null])
    assert.strictEqual((await send(each.key, 400)).status, 201)
    assert.strictEqual((await give(each.key, 500)).body.error?.limit, "per_withdrawal_sats")

    const kinds = await limited({ recipient_types: ["lightning_invoice"] })
    assert.strictEqual((await send(kinds.key, 400)).body.error?.limit, "recipient_types")
    assert.strictEqual((await give(kinds.key, 400)).status, 201)

    const named = await limited({ recipients: [to.toUpperCase()] })
    assert.strictEqual((await send(named.key, 400)).status, 201)
    assert.strictEqual(
      (await send(named.key, 400, await service.lightningAddress(payee.key, "other"))).body.error?.limit,
      "recipients"
    )
    assert.strictEqual((await give(named.key, 400)).body.error?.limit, "recipients")
  })

  it("limits: a voucher counts toward the limits from its creation until it is canceled", async () => {
    const { key, keyId } = await limited({ day_count: 1 })
    const voucher = await give(key, 400)
    assert.strictEqual(voucher.status, 201)
    assert.strictEqual((await send(key, 400)).body.error?.limit, "day_count")
    assert.strictEqual((await shown(keyId)).remaining.day_count, 0)
    await service.ask("POST", `/v1/vouchers/${voucher.body.data.id}/cancel`, { key })
    assert.strictEqual((await send(key, 400)).status, 201)
  })

  it("limits: a refund counts toward the limits like a withdrawal", async () => {
    const { key, admin } = await limited({ day_count: 1 })
    const [deposit] = (await service.ask("GET", "/v1/transactions?type=deposit", { key: admin })).body.data
    const refund = (more: object) =>
      service.ask("POST", "/v1/refunds", {
        key,
        body: { deposit_id: deposit.id, amount: 400, currency: "sats", ...more }
      })
    assert.strictEqual((await refund({ destination: to })).status, 201)
    for (const more of [{ destination: to }, {}])
      assert.strictEqual((await refund(more)).body.error?.limit, "day_count")
  })

  it("limits: a changed limit takes effect immediately, and earlier payments still count", async () => {
    const { key, keyId } = await limited({ day_count: 1 })
    assert.strictEqual((await send(key, 400)).status, 201)
    assert.strictEqual((await send(key, 400)).status, 422)
    const changed = await operate("PUT", `/api-keys/${keyId}/limits`, { day_count: 2, recipients: null })
    assert.deepStrictEqual(
      [changed.status, changed.body.data.limits.day_count, changed.body.data.remaining.day_count],
      [200, 2, 1]
    )
    assert.strictEqual((await send(key, 400)).status, 201)
    assert.strictEqual((await send(key, 400)).status, 422)
    assert.deepStrictEqual((await operate("PUT", `/api-keys/${keyId}/limits`, {})).body.data.limits, null)
    assert.strictEqual((await send(key, 400)).status, 201)
  })

  it("limits: the payments of the previous key count toward the limits of a rotated key", async () => {
    const { key, keyId } = await limited({ day_count: 2 })
    assert.strictEqual((await send(key, 400)).status, 201)
    const rotate = async (id: string) => {
      const { data } = (await operate("POST", `/api-keys/${id}/rotate`, { overlap_seconds: 3600 })).body
      await service.approve(data.id)
      return data
    }
    const next = await rotate(keyId)
    const last = await rotate(next.id)
    assert.strictEqual((await send(next.key, 400)).status, 201)
    for (const one of [key, next.key, last.key])
      assert.strictEqual((await send(one, 400)).body.error?.limit, "day_count")
  })

  it("limits: a company's limits apply to all of its keys together", async () => {
    const { id, admin, key } = await limited({ day_count: 10 })
    const { body } = await operate("PUT", `/companies/${id}/limits`, { day_count: 2 })
    assert.deepStrictEqual([body.data.limits.day_count, body.data.remaining.day_count], [2, 2])
    assert.deepStrictEqual([(await send(admin, 400)).status, (await send(key, 400)).status], [201, 201])
    for (const one of [admin, key]) {
      const { message, error } = (await send(one, 400)).body
      assert.deepStrictEqual(
        [error?.limit, message],
        ["day_count", 'This would exceed the company\'s limit "day_count".']
      )
    }
    assert.strictEqual((await operate("GET", `/companies/${id}/limits`)).body.data.remaining.day_count, 0)
  })

  it("limits: the error for an invalid limit names the field", async () => {
    const { keyId } = await limited({})
    for (const [body, at] of [
      [{ day_sats: -1 }, "day_sats"],
      [{ day_sats: 1.5 }, "day_sats"],
      [{ day_count: 1_000_001 }, "day_count"],
      [{ recipient_types: ["friends"] }, "recipient_types"],
      [{ recipients: ["nobody"] }, "recipients"],
      [{ recipients: ["lnurlp://shop.example/\udfff"] }, "recipients"],
      [{ recipients: Array.from({ length: 51 }, () => to) }, "recipients"],
      [{ weekly_sats: 1 }, "weekly_sats"]
    ] as const) {
      const answer = await operate("PUT", `/api-keys/${keyId}/limits`, body)
      assert.deepStrictEqual(seen(answer), bad(400, "malformed"))
      assert.isTrue(
        answer.body.error?.issues?.some(({ path }) => path.startsWith(at)),
        answer.text
      )
    }
    assert.strictEqual((await shown(keyId)).limits, null)
  })
})

describe("a request whose body arrives slowly", () => {
  /** Sends the first half of the body, then runs `meanwhile`, and only then sends the rest. */
  const slowly = async (path: string, key: string, body: object, meanwhile: () => Promise<unknown>) => {
    const bytes = new TextEncoder().encode(JSON.stringify(body))
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "idempotency-key": crypto.randomUUID()
    }
    // Node requires `duplex` for a stream, but its types lack it.
    const options = { method: "POST", headers, body: readable, duplex: "half" } as const
    const answering = service.handler(new Request(`http://service${path}`, options))
    const writer = writable.getWriter()
    // Resolves when the service reads the body.
    await writer.write(bytes.slice(0, 5))
    await meanwhile()
    await writer.write(bytes.slice(5))
    await writer.close()
    return (await answering).status
  }
  const withdrawal = { amount: 900, currency: "sats", destination: to }

  it("API key: a key that is revoked before the body is complete is rejected", async () => {
    const { key, keyId } = await limited({ day_sats: 10_000 })
    assert.strictEqual(await slowly(confirmed, key, withdrawal, async () => {}), 201)
    assert.strictEqual(
      await slowly(confirmed, key, withdrawal, () => operate("DELETE", `/api-keys/${keyId}`)),
      401
    )
  })

  it("limits: a limit that is lowered before the body is complete applies", async () => {
    const { key, keyId } = await limited({ day_sats: 10_000 })
    const lowered = () => operate("PUT", `/api-keys/${keyId}/limits`, { day_sats: 1 })
    assert.strictEqual(await slowly(confirmed, key, withdrawal, lowered), 422)
  })

  it("operator token: a token that is revoked before the body is complete is rejected", async () => {
    const { id, token } = (await operate("POST", "/tokens", { name: "drill", scopes: ["all"] })).body.data
    const company = { name: "Example Ltd", plan: "free" }
    assert.strictEqual(await slowly("/operator/companies", token, company, async () => {}), 201)
    assert.strictEqual(
      await slowly("/operator/companies", token, company, () => operate("DELETE", `/tokens/${id}`)),
      401
    )
  })
})
