import { hex } from "@scure/base"
import { HDKey } from "@scure/bip32"
import { assert, describe, it } from "@effect/vitest"
import * as BitcoinAddress from "../src/BitcoinAddress.ts"

describe("BIP 86, P2TR with one key", () => {
  const root = HDKey.fromExtendedKey(
    "xprv9s21ZrQH143K3GJpoapnV8SFfukcVBSfeCficPSGfubmSFDxo1kuHnLisriDvSnRRuL2Qrg5ggqHKNVpxR86QEC8w35uxmGoggxtQTPvfUu"
  )
  for (const [path, internalKey, scriptPubKey, address] of [
    [
      "m/86'/0'/0'/0/0",
      "cc8a4bc64d897bddc5fbc2f670f7a8ba0b386779106cf1223c6fc5d7cd6fc115",
      "5120a60869f0dbcf1dc659c9cecbaf8050135ea9e8cdc487053f1dc6880949dc684c",
      "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr"
    ],
    [
      "m/86'/0'/0'/0/1",
      "83dfe85a3151d2517290da461fe2815591ef69f2b18a2ce63f01697a8b313145",
      "5120a82f29944d65b86ae6b5e5cc75e294ead6c59391a1edc5e016e3498c67fc7bbb",
      "bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh"
    ],
    [
      "m/86'/0'/0'/1/0",
      "399f1b2f4393f29a18c937859c5dd8a77350103157eb880f02e8c08214277cef",
      "5120882d74e5d0572d5a816cef0041a96b6c1de832f6f9676d9605c44d5e9a97d3dc",
      "bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7"
    ]
  ] as const) {
    it(`BIP 86: the key at ${path} and its address match the vectors`, () => {
      const { publicKey } = root.derive(path)
      if (publicKey === null) throw new Error(`no key at ${path}`)
      assert.strictEqual(hex.encode(publicKey.slice(1)), internalKey)
      assert.deepStrictEqual(BitcoinAddress.fromPublicKey(publicKey, "taproot", "mainnet"), {
        address,
        network: "mainnet",
        kind: "p2tr",
        scriptPubKey
      })
    })
  }
})
