import { assert, describe, it } from "@effect/vitest"
import { HDKey } from "@scure/bip32"
import * as Keys from "../src/Keys.ts"

// BIP 32, test vector 1. The account is m/0'/1/2'. The last two steps of the vector's path are not hardened,
// and stand for a wallet key's branch and index.
const account = "xpub6D4BDPcP2GT577Vvch3R8wDkScZWzQzMMUm3PWbmWvVJrZwQY4VUNgqFJPMM3No2dFDFGTsxxpG5uJh7n7epu4trkrX7x7DogT5Uv6fcLW5"
const other = "xpub6FHa3pjLCk84BayeJxFW2SP4XRrFd1JYnxeLeU8EqN3vDfZmbqBqaGJAyiLjTAwm6ZLRQUMv1ZACTj37sR62cfN7fe5JnJ7dh8zL4fiyLHV"
const key = "xpub6H1LXWLaKsWFhvm6RVpEL9P4KfRZSW7abD2ttkWP3SSQvnyA8FSVqNTEcYFgJS2UaFcxupHiYkro49S8yGasTvXEYBVPamhGW6cFJodrTHy"

const accounts: Keys.Accounts = { network: "mainnet", fingerprint: "3442193e", taproot: account, segwit: account, nested_segwit: account }

describe("BIP 32, test vector 1", () => {
  it("BIP 32: m/0'/1/2'/2/1000000000 is derived from the public key of m/0'/1/2' alone", () => {
    // A wallet has no branch 2, but the standard's example does.
    const branch = 2 as 0
    const { publicKey, path } = Keys.make(accounts).key({ type: "taproot", branch, index: 1_000_000_000 })
    assert.deepStrictEqual(publicKey, HDKey.fromExtendedKey(key).publicKey)
    assert.deepStrictEqual(path.slice(-2), [2, 1_000_000_000])
  })

  it("BIP 32: a key that is malformed or of another network is rejected", () => {
    for (const wrong of [other.replace("x", "t"), other.slice(0, -1), "m/0'/1/2'"]) {
      assert.throws(() => Keys.make({ ...accounts, segwit: wrong }))
    }
    assert.throws(() => Keys.make({ ...accounts, network: "regtest" }))
  })
})
