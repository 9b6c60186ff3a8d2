import { hex } from "@scure/base"
import { HDKey } from "@scure/bip32"
import { assert, describe, it } from "@effect/vitest"
import * as BitcoinAddress from "../src/BitcoinAddress.ts"

const publicKey = (root: HDKey, path: string) => {
  const { publicKey } = root.derive(path)
  if (publicKey === null) throw new Error(`no key at ${path}`)
  return publicKey
}

describe("BIP 84, P2WPKH", () => {
  const root = HDKey.fromExtendedKey(
    "zprvAWgYBBk7JR8Gjrh4UJQ2uJdG1r3WNRRfURiABBE3RvMXYSrRJL62XuezvGdPvG6GFBZduosCc1YP5wixPox7zhZLfiUm8aunE96BBa4Kei5",
    { private: 0x04b2430c, public: 0x04b24746 }
  )
  for (const [path, key, address] of [
    ["m/84'/0'/0'/0/0", "0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c", "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"],
    ["m/84'/0'/0'/0/1", "03e775fd51f0dfb8cd865d9ff1cca2a158cf651fe997fdc9fee9c1d3b5e995ea77", "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g"],
    ["m/84'/0'/0'/1/0", "03025324888e429ab8e3dbaf1f7802648b9cd01e9b418485c5fa4c1b9b5700e1a6", "bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el"]
  ] as const) {
    it(`BIP 84: the key at ${path} and its address match the vectors`, () => {
      assert.strictEqual(hex.encode(publicKey(root, path)), key)
      assert.strictEqual(BitcoinAddress.fromPublicKey(publicKey(root, path), "segwit", "mainnet").address, address)
    })
  }
})

describe("an invalid key", () => {
  it("bitcoin address: bytes that are not a public key cannot be converted to an address", () => {
    for (const type of BitcoinAddress.AddressType.literals) {
      // No point on the curve has this x-coordinate.
      assert.throws(() => BitcoinAddress.fromPublicKey(hex.decode(`02${"00".repeat(31)}05`), type, "mainnet"))
      assert.throws(() => BitcoinAddress.fromPublicKey(new Uint8Array(20), type, "mainnet"))
    }
  })
})
