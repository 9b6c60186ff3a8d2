import { assert, describe, it } from "@effect/vitest"
import { HDKey } from "@scure/bip32"
import { Result } from "effect"
import * as Keys from "../src/Keys.ts"
import * as Seed from "../src/Seed.ts"

// The test vectors of BIP 49, 84 and 86 use the same words.
const words = Result.getOrThrow(Seed.parse(`${"abandon ".repeat(11)}about`))

describe("the keys of a wallet", () => {
  it("BIP 86: the public key of account m/86'/0'/0' matches the vectors", () => {
    assert.strictEqual(
      Keys.accountsOf(words, "mainnet").taproot,
      "xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ"
    )
  })

  for (const [standard, network, type, branch, index, path, address] of [
    [
      "BIP 86",
      "mainnet",
      "taproot",
      0,
      0,
      "m/86'/0'/0'/0/0",
      "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr"
    ],
    [
      "BIP 86",
      "mainnet",
      "taproot",
      0,
      1,
      "m/86'/0'/0'/0/1",
      "bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh"
    ],
    [
      "BIP 86",
      "mainnet",
      "taproot",
      1,
      0,
      "m/86'/0'/0'/1/0",
      "bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7"
    ],
    ["BIP 84", "mainnet", "segwit", 0, 0, "m/84'/0'/0'/0/0", "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"],
    ["BIP 84", "mainnet", "segwit", 0, 1, "m/84'/0'/0'/0/1", "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g"],
    ["BIP 84", "mainnet", "segwit", 1, 0, "m/84'/0'/0'/1/0", "bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el"],
    ["BIP 49", "testnet", "nested_segwit", 0, 0, "m/49'/1'/0'/0/0", "2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2"]
  ] as const) {
    it(`${standard}: the address of the key at ${path} matches the vectors`, () => {
      const key = Keys.make(Keys.accountsOf(words, network)).key({ type, branch, index })
      assert.deepStrictEqual([Seed.written(key.path), key.address.address], [path, address])
    })
  }

  it("BIP 32: m/0'/1/2'/2/1000000000 is derived from the public key of m/0'/1/2' alone", () => {
    // Test vector 1. The last two steps of its path are not hardened, and stand for a wallet key's branch and index. A
    // wallet has no branch 2, but the standard's example does.
    const account =
      "xpub6D4BDPcP2GT577Vvch3R8wDkScZWzQzMMUm3PWbmWvVJrZwQY4VUNgqFJPMM3No2dFDFGTsxxpG5uJh7n7epu4trkrX7x7DogT5Uv6fcLW5"
    const key =
      "xpub6H1LXWLaKsWFhvm6RVpEL9P4KfRZSW7abD2ttkWP3SSQvnyA8FSVqNTEcYFgJS2UaFcxupHiYkro49S8yGasTvXEYBVPamhGW6cFJodrTHy"
    const accounts: Keys.Accounts = {
      network: "mainnet",
      fingerprint: "3442193e",
      taproot: account,
      segwit: account,
      nested_segwit: account
    }
    const branch = 2 as 0
    const { publicKey, path } = Keys.make(accounts).key({ type: "taproot", branch, index: 1_000_000_000 })
    assert.deepStrictEqual(publicKey, HDKey.fromExtendedKey(key).publicKey)
    assert.deepStrictEqual(path.slice(-2), [2, 1_000_000_000])
  })

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
    for (const wrong of [
      "tpub",
      "m/84'/1'/0'",
      accounts.segwit.slice(0, -1),
      accounts.segwit.replace("t", "x")
    ])
      assert.throws(() => Keys.make({ ...accounts, segwit: wrong }))
  })
})
