import { afterAll, assert, describe, it } from "@effect/vitest"
import { bad, issuePaths, seen, start } from "../../../../http/test/Service.ts"

const service = await start()
afterAll(service.dispose)
const path = "/v1/checkouts"
const { key } = await service.company()

const create = (body: Readonly<Record<string, unknown>> = {}) =>
  service.ask("POST", path, { key, body: { amount: 1000, currency: "sats", ...body } })
const created = async (body: Readonly<Record<string, unknown>> = {}) => {
  const answer = await create(body)
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body.data
}
const get = async (id: string) => (await service.ask("GET", `${path}/${id}`, { key })).body.data
const cancel = (id: string) => service.ask("POST", `${path}/${id}/cancel`, { key })
const invoice = async (id: string) =>
  (await service.ask("GET", `/v1/bitcoin/deposit/lightning-invoice/${id}`, { key })).body.data
const pay = async (paymentRequest: string) => {
  await service.sandbox((sandbox) => sandbox.pay({ paymentRequest }))
  await service.work()
}
const { mine } = service
const send = (address: string, sats: number) =>
  service.sandbox((sandbox) => sandbox.send({ address, amount: service.sats(sats) }))

const follow = (seconds = 60) => service.followCheckouts(seconds)

/** Events about the checkout that the company received, oldest first. */
const told = async (id: string) => {
  const { data } = (await service.ask("GET", "/v1/events?limit=100", { key })).body
  return data
    .filter(
      (event: { readonly type: string; readonly data: { readonly id: string } }) =>
        event.type.startsWith("checkout.") && event.data.id === id
    )
    .map(
      ({ type, data }: { readonly type: string; readonly data: { readonly status: string } }) =>
        `${type} ${data.status}`
    )
}

describe("checkouts", () => {
  it("checkout: a contact must be an email address or an https URL, and unknown options are rejected", async () => {
    for (const contact of [
      "javascript:alert(1)",
      "help",
      "mailto:help@shop.example",
      "http://shop.example",
      "a@b",
      "a b@shop.example",
      ""
    ])
      assert.deepStrictEqual(seen(await create({ contact })), bad(400, "malformed"), contact)
    assert.strictEqual((await create({ options: ["refund"] })).status, 400)
    assert.deepStrictEqual(
      seen(await create({ amount: null, currency: null, options: ["tip"] })),
      bad(400, "malformed")
    )
    const made = await created({ contact: "help@shop.example", options: ["new_quote", "tip", "email"] })
    assert.deepStrictEqual(
      [made.contact, made.options, made.tip_sats, made.payer_email],
      ["help@shop.example", ["new_quote", "tip", "email"], null, null]
    )
  })

  it("checkout: a Lightning payment makes the checkout paid immediately, and creates one event and a deposit", async () => {
    const { id, url, payment_request, status } = await created({ order_id: "1042", description: "tea" })
    assert.match(url, /^https:\/\/pay\.example\.com\/pay\/[0-9a-f]{32}$/)
    assert.strictEqual(status, "open")
    await pay(payment_request)
    const paid = await get(id)
    assert.deepStrictEqual([paid.status, paid.received_sats, paid.late], ["paid", 1000, false])
    for (let i = 0; i < 2; i++) await follow()
    assert.deepStrictEqual(await told(id), ["checkout.paid paid"])
    assert.isNotNull((await get(id)).paid_at)
    assert.deepStrictEqual(seen(await cancel(id)), bad(409, "checkout_not_open"))
  })

  it("checkout: an on-chain payment is shown before it confirms, and closes the checkout's invoice", async () => {
    const { id, address, invoice_id } = await created()
    await send(address, 1000)
    await service.work()
    const waiting = await get(id)
    assert.deepStrictEqual([waiting.status, waiting.pending_sats, waiting.received_sats], ["open", 1000, 0])
    await follow()
    assert.deepStrictEqual(await told(id), [])
    await mine()
    assert.strictEqual((await get(id)).status, "paid")
    await follow(120)
    assert.strictEqual((await invoice(invoice_id)).status, "canceled")
    assert.deepStrictEqual(await told(id), ["checkout.paid paid"])
  })

  it("checkout: an underpayment creates an invoice for the remaining amount and closes the previous one", async () => {
    const { id, address, invoice_id } = await created()
    await send(address, 600)
    await mine()
    await follow()
    const rest = await get(id)
    assert.deepStrictEqual([rest.status, rest.received_sats], ["underpaid", 600])
    assert.notStrictEqual(rest.invoice_id, invoice_id)
    assert.strictEqual((await invoice(invoice_id)).status, "canceled")
    assert.strictEqual((await invoice(rest.invoice_id)).amount_sats, 400)
    await pay(rest.payment_request)
    await follow(120)
    const paid = await get(id)
    assert.deepStrictEqual([paid.status, paid.received_sats], ["paid", 1000])
    assert.deepStrictEqual(await told(id), ["checkout.underpaid underpaid", "checkout.paid paid"])
  })

  it("checkout: an underpayment within the tolerance is accepted", async () => {
    const { id, address } = await created({ tolerance_percent: 5 })
    await send(address, 950)
    await mine()
    assert.strictEqual((await get(id)).status, "paid")
  })

  it("checkout: an unpaid checkout expires, and a later payment makes the checkout paid and is marked as late", async () => {
    const { id, address } = await created({ expiry_seconds: 60 })
    await follow(61)
    assert.strictEqual((await get(id)).status, "expired")
    await send(address, 1000)
    await mine(61)
    await follow(120)
    const paid = await get(id)
    assert.deepStrictEqual([paid.status, paid.late, paid.received_sats], ["paid", true, 1000])
    assert.deepStrictEqual(await told(id), ["checkout.expired expired", "checkout.paid paid"])
  })

  it("checkout: a checkout does not expire while a sufficient payment is pending", async () => {
    const { id, address } = await created({ expiry_seconds: 60 })
    await send(address, 1000)
    await service.work()
    await follow(61)
    assert.strictEqual((await get(id)).status, "open")
    await mine()
    await follow(120)
    const paid = await get(id)
    assert.deepStrictEqual([paid.status, paid.late], ["paid", false])
  })

  it("checkout: canceling a checkout closes its invoice, and canceling again has no further effect", async () => {
    const { id, invoice_id } = await created()
    for (let i = 0; i < 2; i++) assert.strictEqual((await cancel(id)).body.data.status, "canceled")
    assert.strictEqual((await invoice(invoice_id)).status, "canceled")
    assert.deepStrictEqual(await told(id), ["checkout.canceled canceled"])
  })

  it("checkout: a checkout without an amount is paid by a payment of any amount", async () => {
    const { id, amount_sats, address } = (
      await service.ask("POST", path, { key, body: { amount: null, description: "a donation" } })
    ).body.data
    assert.isNull(amount_sats)
    await send(address, 777)
    await mine()
    const paid = await get(id)
    assert.deepStrictEqual([paid.status, paid.received_sats], ["paid", 777])
  })

  it("checkout: bip21 is the URI of the page's QR code, requests exactly the amount due, and is null when nothing can be paid", async () => {
    const uri = async ({ id, url }: { readonly id: string; readonly url: string }) => {
      const { bip21, address, payment_request } = await get(id)
      const state = JSON.parse((await service.ask("GET", `${new URL(url).pathname}/state`)).text)
      assert.strictEqual(state.asking?.uri ?? null, bip21)
      return (
        bip21
          ?.replace(address, "ADDRESS")
          .replace(payment_request, "INVOICE")
          .replace(payment_request.toUpperCase(), "INVOICE") ?? null
      )
    }
    const made = await created({ amount: 10_000 })
    assert.strictEqual(await uri(made), "bitcoin:ADDRESS?amount=0.00010000&lightning=INVOICE")
    assert.strictEqual((await get(made.id)).bip21, made.bip21)
    assert.strictEqual(
      await uri(await created({ amount: 100_000_000 })),
      "bitcoin:ADDRESS?amount=1.00000000&lightning=INVOICE"
    )
    assert.strictEqual(
      await uri(await created({ amount: null, currency: null })),
      "bitcoin:ADDRESS?lightning=INVOICE"
    )
    assert.strictEqual(await uri(await created({ amount: 1 })), "lightning:INVOICE")
    await send(made.address, 3000)
    await service.work()
    assert.strictEqual(await uri(made), "bitcoin:ADDRESS?amount=0.00007000")
    await mine()
    await follow()
    assert.strictEqual(await uri(made), "bitcoin:ADDRESS?amount=0.00007000&lightning=INVOICE")
    await send(made.address, 7000)
    await service.work()
    assert.isNull(await uri(made))
    await mine()
    assert.deepStrictEqual([(await get(made.id)).status, await uri(made)], ["paid", null])
    const [canceled, expired] = [await created(), await created({ expiry_seconds: 60 })]
    assert.isNull((await cancel(canceled.id)).body.data.bip21)
    await follow(61)
    for (const ended of [canceled, expired]) assert.isNull(await uri(ended))
    const { data: events } = (await service.ask("GET", "/v1/events?limit=100", { key })).body
    for (const { type, data } of events) if (type.startsWith("checkout.")) assert.isNull(data.bip21)
  })

  it("checkout: the rate of a fiat amount is fixed for the life of the checkout", async () => {
    const { fiat_amount, fiat_currency, rate, amount_sats } = await created({ amount: 2.5, currency: "EUR" })
    assert.deepStrictEqual([fiat_amount, fiat_currency], ["2.5", "eur"])
    assert.strictEqual(amount_sats, Math.ceil((2.5 / Number(rate)) * 1e8))
  })

  it("checkout: a fiat amount has at most the decimals of its currency, because the payer sees it", async () => {
    const wrong = [
      [
        { amount: 0.1 + 0.2, currency: "eur" },
        "amount must have at most 2 decimals in eur (got 0.30000000000000004)"
      ],
      [{ amount: 10.5, currency: "JPY" }, "amount must have at most 0 decimals in jpy (got 10.5)"]
    ] as const
    for (const [body, message] of wrong) {
      const refused = await create(body)
      assert.deepStrictEqual(
        [refused.status, refused.body.error?.issues],
        [400, [{ path: "amount", message }]]
      )
    }
    const accepted = [
      [{ amount: 0.29, currency: "eur" }, "0.29"],
      [{ amount: 1000, currency: "jpy" }, "1000"]
    ] as const
    for (const [body, fiat_amount] of accepted)
      assert.strictEqual((await created(body)).fiat_amount, fiat_amount)
  })

  it("checkout: an error names the invalid field and the valid values", async () => {
    const wrong = {
      return_url: [
        "http://shop.example/",
        "javascript:alert(1)",
        "https://user:secret@shop.example",
        "shop",
        "https://shop.example/\udfff"
      ],
      cancel_url: ["data:text/html,<b>"],
      embed_origin: [
        "https://shop.example/",
        "https://shop.example/pay",
        "*",
        "https://*",
        "http://shop.example",
        "https://a.example b",
        "https://shop.example;x"
      ],
      color: ["red", "#FFF", "#12345g", "#1d4ed8;}"],
      order_id: ["x".repeat(201), "a\u0000b"],
      expiry_seconds: [59, 604_801],
      tolerance_percent: [-1, 51, 1.5],
      locale: ["de DE", "de/AT", "<b>", "de-", "ⅾe", "x".repeat(101)]
    }
    for (const [member, values] of Object.entries(wrong))
      for (const value of values) {
        const answer = await create({ [member]: value })
        assert.deepStrictEqual(seen(answer), bad(400, "malformed"), `${member}: ${value}`)
        assert.deepStrictEqual(issuePaths(answer.body), [member])
      }
    for (const url of ["https://shop.example/a?b=c", "http://localhost:3000/", "http://127.0.0.1:8080/x"])
      await created({ return_url: url })
  })
})
