import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Records } from "@satrail/core/service/Records"
import { Effect, Option, Result } from "effect"
import { start } from "./Service.ts"
import { askFor, callbackUrl, get, lookUp, pay, refusal } from "./Wallet.ts"

// Tests each sentence of LUD-06 that concerns a service.

const service = await start()
afterAll(service.dispose)
const { id: companyId, key } = await service.company()
const address = await service.lightningAddress(key, "alice")
const offer = await lookUp(service, address)

const stored = (paymentHash: PaymentHash.PaymentHash) =>
  service.run(
    Effect.flatMap(Records, (records) => Effect.map(records.invoiceByHash(paymentHash), Option.getOrThrow))
  )

describe("LUD-06: the first response", () => {
  it("LUD-06: the first response has callback, maxSendable, minSendable, metadata and tag, with the right types", async () => {
    const body = await get(service, "https://pay.example.com/.well-known/lnurlp/alice")
    assert.deepStrictEqual(body, {
      tag: "payRequest",
      callback: "https://pay.example.com/lnurlp/pay.example.com/alice/callback",
      minSendable: 1000,
      maxSendable: 100_000_000_000,
      metadata: '[["text/plain","Pay to alice@pay.example.com"],["text/identifier","alice@pay.example.com"]]',
      commentAllowed: 280,
      payerData: { name: { mandatory: false }, identifier: { mandatory: false }, email: { mandatory: false } }
    })
  })

  it("LUD-06: minSendable and maxSendable are in millisatoshis, and follow the owner's and the operator's limits", async () => {
    const { id } = await service.record(key, address)
    for (const [body, min, max] of [
      [{ min_sats: 21 }, 21_000, 100_000_000_000],
      [{ max_sats: 21 }, 1000, 21_000],
      [{ min_sats: 21, max_sats: 21 }, 21_000, 21_000],
      [{}, 1000, 100_000_000_000]
    ] as const) {
      assert.strictEqual(
        (await service.ask("PUT", `/v1/bitcoin/deposit/lightning-address/${id}`, { key, body })).status,
        200
      )
      const { minSendable, maxSendable } = await lookUp(service, address)
      assert.deepStrictEqual([minSendable, maxSendable], [min, max])
    }
    const stricter = await start({
      settings: { minAmount: Msat.make(2_500n), maxInvoice: Msat.fromSats(10) }
    })
    const other = await lookUp(
      stricter,
      await stricter.lightningAddress((await stricter.company()).key, "bob")
    )
    assert.deepStrictEqual([other.minSendable, other.maxSendable], [2_500, 10_000])
    await stricter.dispose()
  })
})

describe("LUD-06: the callback", () => {
  it("LUD-06: the callback's invoice is for exactly the requested millisatoshis, and commits only to the metadata", async () => {
    for (const amount of [1000, 1001, 21_000, 999_999, 1_234_567, 100_000_000_000]) {
      const { pr } = await askFor(service, offer, amount)
      const invoice = Result.getOrThrow(Bolt11.decode(pr))
      assert.strictEqual(invoice.amount, BigInt(amount))
      assert.isUndefined(invoice.description)
      assert.strictEqual(invoice.expirySeconds, 600)
    }
  })

  it("LUD-06: the callback returns pr and an empty list of routes", async () => {
    const body = await get(service, callbackUrl(offer, 21_000))
    assert.deepStrictEqual(Object.keys(body), ["pr", "routes", "disposable", "verify"])
    assert.deepStrictEqual(body["routes"], [])
    assert.strictEqual(body["disposable"], false)
  })

  it("LUD-06: the callback returns a new invoice every time", async () => {
    const hashes = await Promise.all(
      Array.from({ length: 5 }, async () => (await askFor(service, offer, 21_000)).paymentHash)
    )
    assert.strictEqual(new Set(hashes).size, 5)
  })

  it("LUD-06: an amount that is not a whole number of millisatoshis between min and max is rejected, and the error states the limits", async () => {
    for (const amount of ["999", "0", "100000000001", "9".repeat(18)])
      assert.match(
        await refusal(get(service, callbackUrl(offer, amount))),
        /^amount must be between 1000 and 100000000000 millisatoshis \(got /
      )
    for (const amount of [
      "",
      "21.5",
      "-1",
      "1e3",
      "0x10",
      "21 000",
      " 21000",
      "２１０００",
      "9".repeat(400),
      "NaN"
    ])
      assert.match(
        await refusal(get(service, callbackUrl(offer, amount))),
        /^amount is required in whole millisatoshis/,
        amount
      )
    assert.match(await refusal(get(service, offer.callback)), /^amount is required/)
  })

  it("LUD-06: a repeated parameter is rejected, because a wallet and the service could read different ones", async () => {
    const url = callbackUrl(offer, 21_000, { comment: "", payerdata: "", nostr: "" })
    for (const name of ["amount", "comment", "payerdata", "nostr"])
      assert.strictEqual(
        await refusal(get(service, `${url}&${name}=22000`)),
        `${name} must be sent only once`
      )
  })

  it("LUD-06: unknown parameters are ignored", async () => {
    assert.hasAnyKeys(await get(service, callbackUrl(offer, 21_000, { lnurl: "lnurl1…", nonce: "7" })), [
      "pr"
    ])
  })

  it("LUD-06: the metadata is stored unchanged with the invoice, which belongs to the address", async () => {
    const { paymentHash } = await askFor(service, offer, 1_234_567)
    const { metadata: _, ...invoice } = await stored(paymentHash)
    const { id } = await service.record(key, address)
    assert.strictEqual(invoice.companyId, companyId)
    assert.strictEqual(invoice.lightningAddressId, id)
    assert.deepStrictEqual(invoice.callback, {
      metadata: offer.metadata,
      payerData: null,
      comment: null,
      zapRequest: null
    })
  })
})

describe("LUD-06: a payment", () => {
  it("LUD-06: a payment is credited to the exact millisatoshi, and updates the address's time of last use", async () => {
    const before = await service.run(Effect.flatMap(Records, (records) => records.balance(companyId)))
    assert.isNull((await service.record(key, address)).last_used_at)
    const invoice = await askFor(service, offer, 1_234_567)
    await pay(service, invoice)
    const after = await service.run(Effect.flatMap(Records, (records) => records.balance(companyId)))
    assert.strictEqual(after.posted - before.posted, 1_234_567n)
    assert.isNotNull((await service.record(key, address)).last_used_at)
  })

  it("LUD-06: the company can fetch the invoice like any other, and its amount is rounded down to whole sats", async () => {
    const { paymentHash } = await askFor(service, offer, 1_999)
    const { id } = await stored(paymentHash)
    const { body } = await service.ask("GET", `/v1/bitcoin/deposit/lightning-invoice/${id}`, { key })
    assert.strictEqual(body.data.amount_sats, 1)
    assert.strictEqual(body.data.memo, "Pay to alice@pay.example.com")
    assert.strictEqual(body.data.lightning_address_id, (await service.record(key, address)).id)
    assert.doesNotHaveAnyKeys(body.data, ["callback", "comment"])
  })
})
