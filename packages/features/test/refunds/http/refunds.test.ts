import { afterAll, assert, describe, it } from "@effect/vitest"
import { bad, seen, start } from "../../../../http/test/Service.ts"

const service = await start()
afterAll(service.dispose)
const path = "/v1/refunds"
const { key } = await service.company()
await service.fund(key, 100_000)

/** A deposit of 1000 sats. */
const deposited = async () => {
  await service.fund(key, 1000)
  return (await service.ask("GET", "/v1/transactions?type=deposit&limit=1", { key })).body.data[0].id
}
const create = (body: Readonly<Record<string, unknown>>) => service.ask("POST", path, { key, body })
const refundedSats = async (id: string) =>
  (await service.ask("GET", `/v1/transactions/deposits/${id}`, { key })).body.data.refunded_sats

describe("refunds", () => {
  it("refund: only the response that creates a refund has the refund's link", async () => {
    const deposit_id = await deposited()
    const answer = await create({ deposit_id, description: "Sold out" })
    assert.strictEqual(answer.status, 201, answer.text)
    const { id, lnurl, lnurlw, amount_sats, status, voucher_id } = answer.body.data
    assert.match(lnurl, /^LNURL1/i)
    assert.match(lnurlw, /^lnurlw:/)
    assert.deepStrictEqual([amount_sats, status], [1000, "open"])
    const shown = await service.ask("GET", `${path}/${id}`, { key })
    assert.notInclude(shown.text.toLowerCase(), "lnurl")
    assert.strictEqual(await refundedSats(deposit_id), 1000)
    assert.strictEqual(
      (await service.ask("GET", `/v1/vouchers/${voucher_id}`, { key })).body.data.refund_id,
      id
    )
    const [listed] = (await service.ask("GET", `${path}?limit=1`, { key })).body.data
    assert.deepStrictEqual(listed, shown.body.data)
  })

  it("refund: after a cancellation the deposit can be refunded again, and canceling again changes nothing", async () => {
    const deposit_id = await deposited()
    const { id } = (await create({ deposit_id, amount: 600, currency: "sats" })).body.data
    assert.deepStrictEqual(
      seen(await create({ deposit_id, amount: 401, currency: "sats" })),
      bad(422, "refund_too_large")
    )
    for (let i = 0; i < 2; i++)
      assert.strictEqual(
        (await service.ask("POST", `${path}/${id}/cancel`, { key })).body.data.status,
        "canceled"
      )
    assert.strictEqual(await refundedSats(deposit_id), 0)
    assert.strictEqual((await create({ deposit_id })).body.data.amount_sats, 1000)
  })

  it("refund: if nothing of the deposit is left to refund, the error says so, whether the request has an amount or not", async () => {
    const deposit_id = await deposited()
    await create({ deposit_id })
    const { destination } = await service.sandbox((sandbox) =>
      sandbox.destination({ type: "lightning_address" })
    )
    for (const more of [{}, { destination }, { amount: 1, currency: "sats" }]) {
      const { status, body } = await create({ deposit_id, ...more })
      assert.deepStrictEqual(
        [status, body.message],
        [422, "At most 0 sats of this deposit can still be refunded."],
        JSON.stringify(more)
      )
    }
  })

  it("refund: the list has the refunds of one deposit if asked, page by page", async () => {
    const deposit_id = await deposited()
    const makes = async () => (await create({ deposit_id, amount: 10, currency: "sats" })).body.data.id
    const ids = [await makes(), await makes(), await makes()].toSorted().toReversed()
    await create({ deposit_id: await deposited() })
    const list = (query: string, asker = key) => service.ask("GET", `${path}?${query}`, { key: asker })
    const idsIn = (answer: Awaited<ReturnType<typeof list>>) =>
      answer.body.data.map(({ id }: { id: string }) => id)
    assert.deepStrictEqual(idsIn(await list(`deposit_id=${deposit_id.toUpperCase()}`)), ids)
    const first = await list(`deposit_id=${deposit_id}&limit=2`)
    assert.deepStrictEqual(idsIn(first), ids.slice(0, 2))
    const [, next = ""] = /<[^>]*\?([^>]*)>; rel="next"/.exec(first.headers.get("link") ?? "") ?? []
    assert.deepStrictEqual(idsIn(await list(next)), ids.slice(2))
    assert.deepStrictEqual(idsIn(await list(`deposit_id=${deposit_id}`, (await service.company()).key)), [])
    assert.deepStrictEqual(seen(await list("deposit_id=1")), bad(400, "malformed"))
  })

  it("refund: the request must name exactly one deposit, invoice or checkout", async () => {
    const id = "01900000-0000-7000-8000-000000000001"
    for (const body of [{}, { deposit_id: id, invoice_id: id }, { invoice_id: id, checkout_id: id }])
      assert.deepStrictEqual(seen(await create(body)), bad(400, "malformed"))
    for (const body of [{ deposit_id: id }, { invoice_id: id }, { checkout_id: id }])
      assert.deepStrictEqual(seen(await create(body)), bad(404, "not_found"))
  })

  it("refund: canceling a refund requires the send scope", async () => {
    const { id, company_id } = (await create({ deposit_id: await deposited(), amount: 10, currency: "sats" }))
      .body.data
    const reader = await service.keyFor(company_id, "read")
    assert.deepStrictEqual(
      seen(await service.ask("POST", `${path}/${id}/cancel`, { key: reader })),
      bad(403, "scope_required")
    )
  })
})
