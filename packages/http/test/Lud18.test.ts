import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Records } from "@satrail/core/service/Records"
import { Effect, Option, Result } from "effect"
import { createHash } from "node:crypto"
import { start } from "./Service.ts"
import { askFor, callbackUrl, get, lookUp, refusal } from "./Wallet.ts"

// LUD-18: data that payers send about themselves.

const service = await start()
afterAll(service.dispose)
const { key } = await service.company()
const offer = await lookUp(service, await service.lightningAddress(key, "alice"))

const payerDataOf = (paymentHash: PaymentHash.PaymentHash) =>
  service.run(
    Effect.flatMap(Records, (records) =>
      Effect.map(records.invoiceByHash(paymentHash), (found) => Option.getOrThrow(found).callback?.payerData)
    )
  )

describe("LUD-18: payer data", () => {
  it("LUD-18: payer data is appended to the metadata as received, and the invoice commits to both", async () => {
    for (const payerdata of [
      '{"name":"bob"}',
      '{"name":"Bob & Söhne + 5 %","email":"bob@bob.example"}',
      ' { "identifier" : "bob@bob.example" ,\n"name":"\\u00e9\\n" } ',
      "{}",
      // Fields that were not requested are appended too.
      '{"name":"bob","pubkey":"03ee58475055820fbfa52e356a8920f62f8316129c39369dbdde3e5d0198a9e315","shoe":43}',
      '{"name":"first","name":"second"}',
      // The longest that is accepted.
      `{"name":"${"x".repeat(2037)}"}`,
      // The specification's example.
      '{"name":"bob","auth":{"key":"02c9323d02fc164f89c8f688dbfba8aad69a96fa8f6253ba8cce2c6f1546073fa3","sig":"2afd21794e2a801d0d516584ceebe1a24ed8991dd5ec708259aeaee5c0d2d1437542b689ee5d39e619a01a257142d49c18a4af3088c46ce87e2d941a1bcc7210"},"identifier":"bob@bob.com","pubkey":"03ee58475055820fbfa52e356a8920f62f8316129c39369dbdde3e5d0198a9e315"}'
    ]) {
      // `askFor` checks the hash.
      const { paymentHash } = await askFor(service, offer, 21_000, { payerdata })
      assert.strictEqual(await payerDataOf(paymentHash), payerdata)
    }
  })

  it("LUD-18: payer data has its plus signs and spaces, however a wallet encodes them", async () => {
    const payerdata = '{"identifier":"bob+tips@bob.example","name":"1 + 1"}'
    const forms = {
      encodeURI: encodeURI(payerdata),
      encodeURIComponent: encodeURIComponent(payerdata),
      axios: encodeURIComponent(payerdata)
        .replaceAll("%3A", ":")
        .replaceAll("%2C", ",")
        .replaceAll("%20", "+"),
      form: new URLSearchParams({ payerdata }).toString().slice("payerdata=".length)
    }
    for (const [name, text] of Object.entries(forms)) {
      const { pr } = await get(service, `${callbackUrl(offer, 21_000)}&payerdata=${text}`)
      const { descriptionHash, paymentHash } = Result.getOrThrow(Bolt11.decode(String(pr)))
      assert.strictEqual(await payerDataOf(paymentHash), payerdata, name)
      assert.strictEqual(
        descriptionHash,
        createHash("sha256").update(`${offer.metadata}${payerdata}`).digest("hex"),
        name
      )
    }
  })

  it("LUD-18: if a wallet sends no payer data, nothing is appended to the metadata", async () => {
    for (const more of [{}, { payerdata: "" }]) {
      const { paymentHash } = await askFor(service, offer, 21_000, more)
      assert.isNull(await payerDataOf(paymentHash))
    }
  })

  it("LUD-18: payer data that is not a JSON object, or is too long, is rejected", async () => {
    for (const payerdata of ["bob", "[]", "null", '"bob"', "{", '{"name":"bob"}}', "7", '{"a":"\0"}'])
      assert.strictEqual(
        await refusal(get(service, callbackUrl(offer, 21_000, { payerdata }))),
        "payerdata must be a JSON object",
        payerdata
      )
    assert.strictEqual(
      await refusal(
        get(service, callbackUrl(offer, 21_000, { payerdata: `{"name":"${"x".repeat(2048)}"}` }))
      ),
      "payerdata must have at most 2048 bytes (got 2059)"
    )
  })
})
