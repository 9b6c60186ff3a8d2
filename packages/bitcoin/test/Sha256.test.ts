import { assert, describe, it } from "@effect/vitest"
import { inJavaScript, inNode } from "../src/Sha256.ts"

describe("SHA-256", () => {
  const native = inNode ?? assert.fail("this Node has no crypto.hash")

  it("hash: the hash of `abc` is that of FIPS 180-4, and MACs are those of RFC 4231, sections 4.3 and 4.7", () => {
    for (const { hex, hmac } of [native, inJavaScript]) {
      assert.strictEqual(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
      const short = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      assert.strictEqual(hmac("Jefe")("what do ya want for nothing?"), short)
      // A key that is longer than a block is hashed first.
      const long = "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
      assert.strictEqual(
        hmac(new Uint8Array(131).fill(0xaa))("Test Using Larger Than Block-Size Key - Hash Key First"),
        long
      )
    }
  })

  it("hash: Node and JavaScript give the same results for texts, bytes and keys of every length", () => {
    assert.strictEqual(native.hex("a lone \ud800 surrogate"), inJavaScript.hex("a lone \ud800 surrogate"))
    for (let length = 0; length < 200; length++) {
      for (const data of ["ü".repeat(length), new Uint8Array(length).fill(length)]) {
        assert.strictEqual(native.hex(data), inJavaScript.hex(data))
        assert.strictEqual(native.hmac(data)(data), inJavaScript.hmac(data)(data))
      }
    }
  })
})
