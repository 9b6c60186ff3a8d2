import { afterAll, assert, describe, it } from "@effect/vitest"
import { AuditLog, link } from "@satrail/features/audit/core/AuditLog"
import { Context, Effect } from "effect"
import * as Acting from "../src/edge/Acting.ts"
import { bad, issuePaths, operatorToken, seen, start } from "./Service.ts"

const service = await start({ instead: Context.make(Acting.Proxies, 1) })
afterAll(service.dispose)

const [inside, outside] = ["203.0.113.9", "198.51.100.1"]
/** Our proxy appends the caller's address. The addresses before that one can be forged by the caller. */
const from = (address: string, claimed = inside) => ({
  headers: { "x-forwarded-for": `${claimed}, ${address}` }
})
const operate = (method: string, path: string, body?: unknown) =>
  service.ask(method, `/operator${path}`, { key: operatorToken, body })

const confined = async (allowed_from: unknown, sats = 10_000) => {
  const company = await service.company()
  const issued = await operate("POST", `/companies/${company.id}/api-keys`, {
    name: "shop",
    scopes: ["read", "send"],
    allowed_from
  })
  assert.strictEqual(issued.status, 201, issued.text)
  await service.fund(company.key, sats)
  return {
    ...company,
    admin: company.key,
    key: issued.body.data.key,
    keyId: issued.body.data.id,
    shown: issued.body.data.allowed_from
  }
}

const payee = await service.company()
const to = await service.lightningAddress(payee.key, "payee")
const body = { amount: 100, currency: "sats", destination: to }
const balance = (key: string, address: string) =>
  service.ask("GET", "/v1/transactions/balance", { key, ...from(address) })
const send = (key: string, address: string, headers: Record<string, string> = {}) =>
  service.ask("POST", "/v1/bitcoin/withdraw/confirm", {
    key,
    body,
    headers: { ...from(address).headers, ...headers }
  })

const ranges = ["203.0.113.0/24", "2001:db8::/32"]
const refused = bad(403, "address_not_allowed")

describe("addresses from which a key may be used", () => {
  it("allowed from: a key used from another address gets no access, whatever forwarding header is sent", async () => {
    const { key, shown } = await confined({ for: "everything", ranges })
    assert.deepStrictEqual(shown, { for: "everything", ranges })
    assert.strictEqual((await balance(key, inside)).status, 200)
    assert.strictEqual((await balance(key, "2001:db8::7")).status, 200)
    for (const withPort of [`${inside}:443`, "[2001:db8::7]:443"])
      assert.strictEqual((await balance(key, withPort)).status, 200)
    const [looked, sent] = [await balance(key, outside), await send(key, outside)]
    assert.deepStrictEqual([seen(looked), seen(sent)], [refused, refused])
    assert.strictEqual(looked.body.message, sent.body.message)
    assert.deepStrictEqual(
      seen(await service.ask("GET", "/v1/events/stream", { key, ...from(outside) })),
      refused
    )
    assert.deepStrictEqual(
      seen(await service.ask("GET", "/v1/bitcoin/nothing", { key, ...from(outside) })),
      bad(404, "not_found")
    )
    assert.deepStrictEqual(
      seen(await service.ask("GET", "/v1/transactions/balance", { key })),
      refused,
      "an unknown address is in no range"
    )
  })

  it("allowed from: a stored idempotent response is not returned to another address", async () => {
    const { key, admin } = await confined({ for: "sending", ranges })
    const once = { "idempotency-key": "once" }
    assert.strictEqual((await send(key, inside, once)).status, 201)
    assert.deepStrictEqual(seen(await send(key, outside, once)), refused)
    assert.strictEqual((await send(key, inside, once)).status, 201)
    const { data } = (await service.ask("GET", "/v1/transactions?type=withdrawal", { key: admin })).body
    assert.lengthOf(data, 1)
  })

  it("allowed from: a key that is restricted only for sending can still read from any address, but cannot send", async () => {
    const { key } = await confined({ for: "sending", ranges })
    assert.strictEqual((await balance(key, outside)).status, 200)
    assert.strictEqual(
      (await service.ask("POST", "/v1/bitcoin/withdraw/estimate", { key, body, ...from(outside) })).status,
      200
    )
    for (const [path, body] of [
      ["/v1/bitcoin/withdraw/confirm", { amount: 100, currency: "sats", destination: to }],
      ["/v1/bitcoin/send/confirm", { amount: 100, currency: "sats", destination: to }],
      ["/v1/vouchers", { amount: 100, currency: "sats" }],
      ["/v1/refunds", { deposit_id: "5f0c7d0e-3b1f-4a53-9d0e-0a2b6f1f7c11" }]
    ] as const)
      assert.deepStrictEqual(
        seen(await service.ask("POST", path, { key, body, ...from(outside) })),
        refused,
        path
      )
    assert.strictEqual((await send(key, inside)).status, 201)
  })

  it("allowed from: an operator's change takes effect immediately, and a rotated key has the same ranges", async () => {
    const { key, keyId } = await confined(null)
    assert.strictEqual((await balance(key, outside)).status, 200)
    const set = await operate("PUT", `/api-keys/${keyId}/allowed-from`, {
      allowed_from: { for: "everything", ranges }
    })
    assert.deepStrictEqual([set.status, set.body.data.allowed_from], [200, { for: "everything", ranges }])
    assert.deepStrictEqual(seen(await balance(key, outside)), refused)
    const next = (await operate("POST", `/api-keys/${keyId}/rotate`, { overlap_seconds: 60 })).body.data
    await service.approve(next.id)
    assert.deepStrictEqual(next.allowed_from, { for: "everything", ranges })
    assert.deepStrictEqual(seen(await balance(next.key, outside)), refused)
    await operate("PUT", `/api-keys/${next.id}/allowed-from`, { allowed_from: null })
    assert.strictEqual((await balance(next.key, outside)).status, 200)
  })

  it("allowed from: an error names each invalid range, and more than 50 ranges are rejected", async () => {
    const { keyId } = await confined(null)
    const put = (allowed_from: unknown) => operate("PUT", `/api-keys/${keyId}/allowed-from`, { allowed_from })
    const many = (count: number) => Array.from({ length: count }, (_, i) => `10.0.0.${i}`)
    for (const [given, path] of [
      [{ for: "everything", ranges: [] }, "allowed_from.ranges"],
      [{ for: "everything", ranges: many(51) }, "allowed_from.ranges"],
      [{ for: "everything", ranges: ["10.0.0.0/8", "10.0.0.5/8"] }, "allowed_from.ranges.1"],
      [{ for: "reading", ranges }, "allowed_from.for"]
    ] as const) {
      const answer = await put(given)
      assert.deepStrictEqual(seen(answer), bad(400, "malformed"))
      assert.include(issuePaths(answer.body).join(" "), path)
    }
    assert.strictEqual(
      (await operate("PUT", `/api-keys/${keyId}/allowed-from`, {})).status,
      400,
      "null must be sent, not omitted"
    )
    assert.strictEqual((await put({ for: "everything", ranges: many(50) })).status, 200)
  })

  it("allowed from: the audit log records each rejected key with the address of the request", async () => {
    const { key, keyId, admin } = await confined({ for: "everything", ranges })
    await balance(key, outside)
    await service.run(Effect.flatMap(AuditLog, ({ flush }) => flush))
    await service.run(Effect.repeat(link, { while: (count) => count > 0 }))
    const { data } = (await service.ask("GET", "/v1/audit", { key: admin })).body
    const { actor_id, verb, outcome, ip_address } = data[0]
    assert.deepStrictEqual(
      [actor_id, verb, outcome, ip_address],
      [keyId, "read.balance", "address_not_allowed", outside]
    )
  })
})
