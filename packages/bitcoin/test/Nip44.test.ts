import { assert, describe, it } from "@effect/vitest"
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import { Redacted, Result } from "effect"
import * as Nip44 from "../src/Nip44.ts"
import * as Nostr from "../src/Nostr.ts"

// The published vectors (nip44.vectors.json, version 2).
const shared = [
  [
    "315e59ff51cb9209768cf7da80791ddcaae56ac9775eb25b6dee1234bc5d2268",
    "c2f9d9948dc8c7c38321e4b85c8558872eafa0641cd269db76848a6073e69133",
    "3dfef0ce2a4d80a25e7a328accf73448ef67096f65f79588e358d9a0eb9013f1"
  ],
  [
    "a1e37752c9fdc1273be53f68c5f74be7c8905728e8de75800b94262f9497c86e",
    "03bb7947065dde12ba991ea045132581d0954f042c84e06d8c00066e23c1a800",
    "4d14f36e81b8452128da64fe6f1eae873baae2f444b02c950b90e43553f2178b"
  ],
  [
    "98a5902fd67518a0c900f0fb62158f278f94a21d6f9d33d30cd3091195500311",
    "aae65c15f98e5e677b5050de82e3aba47a6fe49b3dab7863cf35d9478ba9f7d1",
    "9c00b769d5f54d02bf175b7284a1cbd28b6911b06cda6666b2243561ac96bad7"
  ],
  [
    "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364139",
    "0000000000000000000000000000000000000000000000000000000000000002",
    "8b6392dbf2ec6a2b2d5b1477fc2be84d63ef254b667cadd31bd3f444c44ae6ba"
  ]
] as const

const unshared = [
  ["ff".repeat(32), "1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef"],
  ["00".repeat(32), "1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef"],
  ["fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364139", "ff".repeat(32)],
  [
    "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141",
    "1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef"
  ],
  [
    "0000000000000000000000000000000000000000000000000000000000000002",
    "1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef"
  ]
] as const

const one = "c41c775356fd92eadc63ff5a0dc1da211b268cbea22316767095b2871ea1412d"
const sealed = [
  [
    one,
    "0000000000000000000000000000000000000000000000000000000000000001",
    "a",
    "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABee0G5VSK0/9YypIObAtDKfYEAjD35uVkHyB0F4DwrcNaCXlCWZKaArsGrY6M9wnuTMxWfp1RTN9Xga8no+kF5Vsb"
  ],
  [
    one,
    "f00000000000000000000000000000f00000000000000000000000000000000f",
    "🍕🫃",
    "AvAAAAAAAAAAAAAAAAAAAPAAAAAAAAAAAAAAAAAAAAAPSKSK6is9ngkX2+cSq85Th16oRTISAOfhStnixqZziKMDvB0QQzgFZdjLTPicCJaV8nDITO+QfaQ61+KbWQIOO2Yj"
  ]
] as const

const unreadable = [
  [
    "ca2527a037347b91bea0c8a30fc8d9600ffd81ec00038671e3a0f0cb0fc9f642",
    "#Atqupco0WyaOW2IGDKcshwxI9xO8HgD/P8Ddt46CbxDbrhdG8VmJdU0MIDf06CUvEvdnr1cp1fiMtlM/GrE92xAc1K5odTpCzUB+mjXgbaqtntBUbTToSUoT0ovrlPwzGjyp",
    "an unknown version"
  ],
  [
    "36f04e558af246352dcf73b692fbd3646a2207bd8abd4b1cd26b234db84d9481",
    "AK1AjUvoYW3IS7C/BGRUoqEC7ayTfDUgnEPNeWTF/reBZFaha6EAIRueE9D1B1RuoiuFScC0Q94yjIuxZD3JStQtE8JMNacWFs9rlYP+ZydtHhRucp+lxfdvFlaGV/sQlqZz",
    "an unknown version"
  ],
  [
    "ca2527a037347b91bea0c8a30fc8d9600ffd81ec00038671e3a0f0cb0fc9f642",
    "Atфupco0WyaOW2IGDKcshwxI9xO8HgD/P8Ddt46CbxDbrhdG8VmJZE0UICD06CUvEvdnr1cp1fiMtlM/GrE92xAc1EwsVCQEgWEu2gsHUVf4JAa3TpgkmFc3TWsax0v6n/Wq",
    "no base64"
  ],
  [
    "cff7bd6a3e29a450fd27f6c125d5edeb0987c475fd1e8d97591e0d4d8a89763c",
    "Agn/l3ULCEAS4V7LhGFM6IGA17jsDUaFCKhrbXDANholyySBfeh+EN8wNB9gaLlg4j6wdBYh+3oK+mnxWu3NKRbSvQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "a wrong MAC"
  ],
  [
    "cfcc9cf682dfb00b11357f65bdc45e29156b69db424d20b3596919074f5bf957",
    "AmWxSwuUmqp9UsQX63U7OQ6K1thLI69L7G2b+j4DoIr0oRWQ8avl4OLqWZiTJ10vIgKrNqjoaX+fNhE9RqmR5g0f6BtUg1ijFMz71MO1D4lQLQfW7+UHva8PGYgQ1QpHlKgR",
    "a wrong MAC"
  ],
  [
    "5254827d29177622d40a7b67cad014fe7137700c3c523903ebbe3e1b74d40214",
    "Anq2XbuLvCuONcr7V0UxTh8FAyWoZNEdBHXvdbNmDZHB573MI7R7rrTYftpqmvUpahmBC2sngmI14/L0HjOZ7lWGJlzdh6luiOnGPc46cGxf08MRC4CIuxx3i2Lm0KqgJ7vA",
    "invalid padding"
  ],
  [
    "fea39aca9aa8340c3a78ae1f0902aa7e726946e4efcd7783379df8096029c496",
    "An1Cg+O1TIhdav7ogfSOYvCj9dep4ctxzKtZSniCw5MwRrrPJFyAQYZh5VpjC2QYzny5LIQ9v9lhqmZR4WBYRNJ0ognHVNMwiFV1SHpvUFT8HHZN/m/QarflbvDHAtO6pY16",
    "invalid padding"
  ],
  [
    "0c4cffb7a6f7e706ec94b2e879f1fc54ff8de38d8db87e11787694d5392d5b3f",
    "Am+f1yZnwnOs0jymZTcRpwhDRHTdnrFcPtsBzpqVdD6b2NZDaNm/TPkZGr75kbB6tCSoq7YRcbPiNfJXNch3Tf+o9+zZTMxwjgX/nm3yDKR2kHQMBhVleCB9uPuljl40AJ8kXRD0gjw+aYRJFUMK9gCETZAjjmrsCM+nGRZ1FfNsHr6Z",
    "invalid padding"
  ],
  ["5cd2d13b9e355aeb2452afbd3786870dbeecb9d355b12cb0a3b6e9da5744cd35", "", "an impossible length"],
  ["d61d3f09c7dfe1c0be91af7109b60a7d9d498920c90cbba1e137320fdd938853", "Ag==", "an impossible length"],
  [
    "873bb0fc665eb950a8e7d5971965539f6ebd645c83c08cd6a85aafbad0f0bc47",
    "AqxgToSh3H7iLYRJjoWAM+vSv/Y1mgNlm6OWWjOYUClrFF8=",
    "an impossible length"
  ],
  [
    "9f2fef8f5401ac33f74641b568a7a30bb19409c76ffdc5eae2db6b39d2617fbe",
    "Ap/2SEZCVFIhYk6qx7nqJxM6TMI1ZoKmAzrO7vBDVJhhuZXWiM20i/tIsbjT0KxkJs2MZjh1oXNYMO9ggfk7i47WQA==",
    "an impossible length"
  ]
] as const

const padded = [
  [16, 32],
  [32, 32],
  [33, 64],
  [37, 64],
  [45, 64],
  [49, 64],
  [64, 64],
  [65, 96],
  [100, 128],
  [111, 128],
  [200, 224],
  [250, 256],
  [320, 320],
  [383, 384],
  [384, 384],
  [400, 448],
  [500, 512],
  [512, 512],
  [515, 640],
  [700, 768],
  [800, 896],
  [900, 1024],
  [1020, 1024],
  [65536, 65536]
] as const

const key = (hex: string) => Redacted.make(hexToBytes(hex))
const keyOf = (secret: string, publicKey: string) => {
  const made = Nip44.conversationKey(Redacted.make(secret), publicKey)
  return made && bytesToHex(Redacted.value(made))
}
const reasonOf = (result: ReturnType<typeof Nip44.decrypt>) =>
  Result.isFailure(result) ? result.failure.reason : undefined

describe("NIP-44", () => {
  it("NIP-44: the shared key matches the published one, and is the same from either side", () => {
    for (const [secret, publicKey, expected] of shared) assert.strictEqual(keyOf(secret, publicKey), expected)
    for (const [secret, publicKey] of unshared) assert.isUndefined(keyOf(secret, publicKey))
    const [mine, yours] = ["11".repeat(32), "22".repeat(32)]
    assert.strictEqual(
      keyOf(mine, Nostr.publicKeyOf(Redacted.make(yours))),
      keyOf(yours, Nostr.publicKeyOf(Redacted.make(mine)))
    )
  })

  it("NIP-44: a string is encrypted to the published bytes and decrypted again", () => {
    for (const [hex, nonce, text, payload] of sealed) {
      assert.strictEqual(Nip44.encrypt(text, key(hex), hexToBytes(nonce)), payload)
      assert.deepStrictEqual(Nip44.decrypt(payload, key(hex)), Result.succeed(text))
    }
  })

  it("NIP-44: published invalid payloads are rejected for the published reason", () => {
    for (const [hex, payload, reason] of unreadable)
      assert.strictEqual(reasonOf(Nip44.decrypt(payload, key(hex))), reason)
  })

  it("NIP-44: lengths are rounded up as in the published vectors", () => {
    for (const [size, expected] of padded) assert.strictEqual(Nip44.paddedBytes(size), expected)
  })

  it("NIP-44: empty and overlong texts are not encrypted", () => {
    for (const text of ["", "x".repeat(Nip44.maxBytes + 1)])
      assert.throws(() => Nip44.encrypt(text, key(one), new Uint8Array(32)), RangeError)
    const longest = "x".repeat(Nip44.maxBytes)
    assert.deepStrictEqual(
      Nip44.decrypt(Nip44.encrypt(longest, key(one), new Uint8Array(32)), key(one)),
      Result.succeed(longest)
    )
  })
})
