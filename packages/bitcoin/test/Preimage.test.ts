import { assert, describe, it } from "@effect/vitest"
import * as PaymentHash from "../src/PaymentHash.ts"
import * as Preimage from "../src/Preimage.ts"

describe("Preimage (BOLT 4)", () => {
  const preimage = Preimage.make("00".repeat(32))
  const hash = PaymentHash.make("66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925") // SHA-256 of 32 zero bytes

  it("preimage: the preimage of a payment hash proves the payment", () => {
    assert.strictEqual(Preimage.hashOf(preimage), hash)
    assert.isTrue(Preimage.proves(preimage, hash))
  })

  it("preimage: a text that is not the preimage of a payment hash does not prove the payment", () => {
    for (const text of [
      "",
      "00",
      "00".repeat(31),
      "00".repeat(33),
      `01${"00".repeat(31)}`,
      "zz".repeat(32),
      `${preimage} `,
      hash
    ]) {
      assert.isFalse(Preimage.proves(Preimage.make(text), hash), text)
    }
    assert.isFalse(Preimage.proves(preimage, PaymentHash.make(hash.toUpperCase())))
    assert.isFalse(Preimage.proves(preimage, PaymentHash.make("")))
  })

  it("preimage: code that swaps a preimage and a payment hash, or passes plain text, does not compile", () => {
    // @ts-expect-error -- a payment hash in place of the preimage
    assert.isFalse(Preimage.proves(hash, hash))
    // @ts-expect-error -- a preimage in place of the payment hash
    assert.isFalse(Preimage.proves(preimage, preimage))
    // @ts-expect-error -- an unbranded string
    assert.isFalse(Preimage.proves("", hash))
    // @ts-expect-error -- an unbranded string
    assert.isFalse(Preimage.proves(preimage, ""))
  })
})
