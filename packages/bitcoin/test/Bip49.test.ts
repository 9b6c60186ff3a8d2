import { hex } from "@scure/base"
import { HDKey } from "@scure/bip32"
import { assert, describe, it } from "@effect/vitest"
import * as BitcoinAddress from "../src/BitcoinAddress.ts"

describe("BIP 49, P2SH-P2WPKH", () => {
  it("BIP 49: the key at m/49'/1'/0'/0/0 and its address match the example", () => {
    const root = HDKey.fromExtendedKey(
      "uprv8tXDerPXZ1QsVNjUJWTurs9kA1KGfKUAts74GCkcXtU8GwnH33GDRbNJpEqTvipfCyycARtQJhmdfWf8oKt41X9LL1zeD2pLsWmxEk3VAwd",
      { private: 0x044a4e28, public: 0x044a5262 }
    )
    const { publicKey } = root.derive("m/49'/1'/0'/0/0")
    if (publicKey === null) throw new Error("no key")
    assert.strictEqual(hex.encode(publicKey), "03a1af804ac108a8a51782198c2d034b28bf90c8803f5a53f76276fa69a4eae77f")
    assert.strictEqual(BitcoinAddress.fromPublicKey(publicKey, "nested_segwit", "testnet").address, "2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2")
  })
})
