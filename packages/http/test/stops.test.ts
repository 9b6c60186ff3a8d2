import { afterAll, assert, describe, it } from "@effect/vitest"
import { eventually } from "@satrail/testing/Waiting"
import { bad, operatorToken, seen, start } from "./Service.ts"
import { get, refusal } from "./Wallet.ts"

const service = await start({ checks: [] })
afterAll(service.dispose)

const operate = (method: string, path: string, body?: unknown) =>
  service.ask(method, `/operator${path}`, { key: operatorToken, body })
const { id, key } = await service.company()
await service.fund(key, 100_000)
const payee = await service.company()
const to = await service.lightningAddress(payee.key, "payee")

const confirm = (headers: Record<string, string> = {}) =>
  service.ask("POST", "/v1/bitcoin/withdraw/confirm", {
    key,
    headers,
    body: { amount: 400, currency: "sats", destination: to }
  })
const voucher = () => service.ask("POST", "/v1/vouchers", { key, body: { amount: 400, currency: "sats" } })
const invoice = () =>
  service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
    key,
    body: { amount: 400, currency: "sats" }
  })
const address = () => service.ask("POST", "/v1/bitcoin/deposit/on-chain", { key })
const statusOf = async (withdrawal: string) =>
  (await service.ask("GET", `/v1/transactions/withdrawals/${withdrawal}`, { key })).body.data.status

describe("pause", () => {
  it("pause: while sending is paused, new payments are rejected, and confirmed payments wait until sending resumes", async () => {
    const before = (await confirm({ "idempotency-key": "before" })).body.data.id
    const paused = await operate("POST", "/pause", { what: "sending" })
    assert.deepStrictEqual(
      [paused.status, typeof paused.body.data.sending, paused.body.data.receiving],
      [200, "string", null]
    )
    assert.deepStrictEqual(seen(await confirm()), bad(503, "paused"))
    assert.deepStrictEqual(seen(await voucher()), bad(503, "paused"))
    assert.strictEqual(
      (await confirm({ "idempotency-key": "before" })).body.data.id,
      before,
      "the stored response is returned"
    )
    await service.work()
    assert.strictEqual(await statusOf(before), "pending")
    assert.strictEqual((await invoice()).status, 201)
    assert.deepStrictEqual((await service.ask("GET", "/readyz")).body.data, {
      ready: [],
      paused: ["sending"]
    })

    assert.strictEqual((await operate("POST", "/resume", { what: "sending" })).body.data.sending, null)
    assert.strictEqual((await confirm()).status, 201)
    // The withdrawal was postponed by two seconds.
    const ended = async () => {
      await service.work()
      return statusOf(before)
    }
    assert.strictEqual(await eventually("its end", ended, (status) => status !== "pending"), "settled")
    assert.deepStrictEqual((await service.ask("GET", "/readyz")).body.data, { ready: [] })
  })

  it("pause: while receiving is paused, no invoices or addresses are created, even for wallets, but payments of earlier invoices are credited", async () => {
    const { id: invoiceId, payment_request: paymentRequest } = (await invoice()).body.data
    const offer = await get(service, "https://pay.example.com/.well-known/lnurlp/payee")
    for (let i = 0; i < 2; i++)
      assert.strictEqual((await operate("POST", "/pause", { what: "receiving" })).status, 200)
    assert.deepStrictEqual(seen(await invoice()), bad(503, "paused"))
    assert.deepStrictEqual(seen(await address()), bad(503, "paused"))
    const callback = new URL(String(Reflect.get(Object(offer), "callback")))
    callback.searchParams.set("amount", "400000")
    assert.strictEqual(
      await refusal(get(service, callback.href)),
      "Payments are not accepted right now. Try again later"
    )
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest }))
    await service.work()
    const { settled } = (
      await service.ask("GET", `/v1/bitcoin/deposit/lightning-invoice/${invoiceId}`, { key })
    ).body.data
    assert.isTrue(settled)
    assert.strictEqual((await confirm()).status, 201)
    assert.strictEqual((await operate("POST", "/resume", { what: "receiving" })).body.data.receiving, null)
    assert.strictEqual((await invoice()).status, 201)
    assert.strictEqual((await address()).status, 201)
  })
})

describe("freeze", () => {
  const freeze = (pending: string) =>
    operate("POST", `/companies/${id}/freeze`, { reason: "a stolen key", pending })
  const unfreeze = () => operate("POST", `/companies/${id}/unfreeze`)

  it("freeze: keys can read and receive but not send; confirmed payments wait or continue, as requested", async () => {
    for (const [pending, status] of [
      ["wait", "pending"],
      ["go_on", "settled"]
    ] as const) {
      const before = (await confirm()).body.data.id
      const link = (await voucher()).body.data
      const frozen = await freeze(pending)
      assert.deepStrictEqual(
        [frozen.status, frozen.body.data.frozen.reason, frozen.body.data.frozen.pending],
        [200, "a stolen key", pending]
      )
      assert.deepStrictEqual(seen(await confirm()), bad(403, "company_frozen"))
      assert.deepStrictEqual(seen(await voucher()), bad(403, "company_frozen"))
      assert.notInclude((await confirm()).text, "stolen", "the reason is not shown")
      assert.strictEqual((await service.ask("GET", "/v1/transactions/balance", { key })).status, 200)
      assert.strictEqual((await invoice()).status, 201)
      await service.work()
      assert.strictEqual(await statusOf(before), status)
      assert.strictEqual((await service.ask("POST", `/v1/vouchers/${link.id}/cancel`, { key })).status, 200)
      for (let i = 0; i < 2; i++) {
        const { data, message } = (await unfreeze()).body
        assert.deepStrictEqual([message, data], ["Company unfrozen", { id, frozen: null }])
      }
      assert.strictEqual((await confirm()).status, 201)
    }
  })

  it("freeze: an invalid reason or an unknown company is rejected", async () => {
    const reasonless = await operate("POST", `/companies/${id}/freeze`, { reason: " ", pending: "wait" })
    assert.deepStrictEqual([reasonless.status, reasonless.body.error?.issues?.[0]?.path], [400, "reason"])
    const unclear = await operate("POST", `/companies/${id}/freeze`, { reason: "a", pending: "perhaps" })
    assert.deepStrictEqual([unclear.status, unclear.body.error?.issues?.[0]?.path], [400, "pending"])
    const nobody = "018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"
    assert.deepStrictEqual(
      seen(await operate("POST", `/companies/${nobody}/unfreeze`)),
      bad(404, "not_found")
    )
    assert.strictEqual((await operate("POST", "/pause", { what: "thinking" })).status, 400)
  })
})
