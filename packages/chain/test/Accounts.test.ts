import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Keys from "../src/Keys.ts"
import * as Seed from "../src/Seed.ts"

// The test vectors of BIP 49, 84 and 86 use the same words.
const words = Result.getOrThrow(Seed.parse(`${"abandon ".repeat(11)}about`))

describe("BIP 86", () => {
  const keys = Keys.make(Keys.accountsOf(words, "mainnet"))
  it("BIP 86: the public key of account m/86'/0'/0' matches the vectors", () => {
    assert.strictEqual(
      keys.accounts.taproot,
      "xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ"
    )
  })
  for (const [branch, index, address] of [
    [0, 0, "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr"],
    [0, 1, "bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh"],
    [1, 0, "bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7"]
  ] as const) {
    it(`BIP 86: the address of key ${branch}/${index} matches the vectors`, () =>
      assert.strictEqual(keys.key({ type: "taproot", branch, index }).address.address, address))
  }
})

describe("BIP 84", () => {
  const keys = Keys.make(Keys.accountsOf(words, "mainnet"))
  for (const [branch, index, address] of [
    [0, 0, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"],
    [0, 1, "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g"],
    [1, 0, "bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el"]
  ] as const) {
    it(`BIP 84: the address of key ${branch}/${index} matches the vectors`, () =>
      assert.strictEqual(keys.key({ type: "segwit", branch, index }).address.address, address))
  }
})

describe("BIP 49", () => {
  it("BIP 49: the address of key m/49'/1'/0'/0/0 matches the example", () => {
    const keys = Keys.make(Keys.accountsOf(words, "testnet"))
    const { address, path, publicKey } = keys.key({ type: "nested_segwit", branch: 0, index: 0 })
    assert.strictEqual(address.address, "2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2")
    assert.strictEqual(Seed.written(path), "m/49'/1'/0'/0/0")
    assert.strictEqual(Buffer.from(publicKey).toString("hex"), "03a1af804ac108a8a51782198c2d034b28bf90c8803f5a53f76276fa69a4eae77f")
  })
})

describe("BIP 32, accounts", () => {
  it("BIP 32: the public key derives the same keys as the private key, and has the master fingerprint", () => {
    const accounts = Keys.accountsOf(words, "regtest")
    const master = Seed.master(words, "regtest")
    assert.strictEqual(accounts.fingerprint, "73c5da0a")
    const place = { type: "segwit", branch: 1, index: 77 } as const
    const { publicKey, path } = Keys.make(accounts).key(place)
    assert.deepStrictEqual(publicKey, master.derive(Seed.written(path)).publicKey)
    for (const type of ["taproot", "segwit", "nested_segwit"] as const) assert.match(accounts[type], /^tpub/)
  })

  it("BIP 32: an account key that is malformed or of another network is rejected", () => {
    const accounts = Keys.accountsOf(words, "regtest")
    assert.throws(() => Keys.make({ ...accounts, network: "mainnet" }))
    assert.throws(() => Keys.make({ ...accounts, segwit: "tpub" }))
  })
})
