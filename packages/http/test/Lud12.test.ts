import { afterAll, assert, describe, it } from "@effect/vitest"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Records } from "@satrail/core/service/Records"
import { Effect, Option } from "effect"
import { bad, seen, start } from "./Service.ts"
import { askFor, callbackUrl, get, lookUp, pay, refusal } from "./Wallet.ts"

// LUD-12: comments from payer to payee.

const service = await start()
afterAll(service.dispose)
const { key } = await service.company()
const address = await service.lightningAddress(key, "alice")
const offer = await lookUp(service, address)

const commentOf = (paymentHash: PaymentHash.PaymentHash) =>
  service.run(
    Effect.flatMap(Records, (records) =>
      Effect.map(records.invoiceByHash(paymentHash), (found) => Option.getOrThrow(found).callback?.comment)
    )
  )

describe("LUD-12: comments", () => {
  it("LUD-12: a comment may have up to commentAllowed characters, and an emoji counts as one character", async () => {
    assert.strictEqual(offer.commentAllowed, 280)
    await askFor(service, offer, 21_000, { comment: "x".repeat(280) })
    await askFor(service, offer, 21_000, { comment: "🎉".repeat(280) })
    assert.strictEqual(
      await refusal(get(service, callbackUrl(offer, 21_000, { comment: "x".repeat(281) }))),
      "comment must have at most 280 characters (got 281)"
    )
  })

  it("LUD-12: a comment is stored as written, and can be fetched by the deposit's id", async () => {
    for (const comment of [
      "For the coffee & cake + 5 % = ☕\n\t\"'\\",
      "' or 1=1; --",
      '{"a":1}',
      "<b>hi</b>",
      "‮abc"
    ]) {
      const invoice = await askFor(service, offer, 21_000, { comment })
      assert.strictEqual(await commentOf(invoice.paymentHash), comment)
    }
    const invoice = await askFor(service, offer, 21_000, { comment: "thanks", payerdata: '{"name":"Bob"}' })
    await pay(service, invoice)
    const [{ id }] = (await service.ask("GET", "/v1/transactions?limit=1", { key })).body.data
    const { body } = await service.ask("GET", `/v1/transactions/deposits/${id}/payer`, { key })
    assert.deepStrictEqual(body.data, { comment: "thanks", payer_data: '{"name":"Bob"}', zap_request: null })
    const other = await service.company()
    assert.deepStrictEqual(
      seen(await service.ask("GET", `/v1/transactions/deposits/${id}/payer`, { key: other.key })),
      bad(404, "not_found")
    )
    await service.fund(other.key, 100)
    const [deposit] = (await service.ask("GET", "/v1/transactions?limit=1", { key: other.key })).body.data
    const nothing = await service.ask("GET", `/v1/transactions/deposits/${deposit.id}/payer`, {
      key: other.key
    })
    assert.deepStrictEqual(nothing.body.data, { comment: null, payer_data: null, zap_request: null })
  })

  it("LUD-12: an empty comment is treated as no comment", async () => {
    const { paymentHash } = await askFor(service, offer, 21_000, { comment: "" })
    assert.isNull(await commentOf(paymentHash))
  })

  it("LUD-12: a comment that cannot be stored is rejected", async () => {
    assert.match(
      await refusal(get(service, callbackUrl(offer, 21_000, { comment: "a\0b" }))),
      /^comment must be well-formed text/
    )
  })
})
