import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import * as Descriptor from "../src/Descriptor.ts"
import * as Keys from "../src/Keys.ts"

describe("BIP 380", () => {
  it("descriptor: checksums match the examples in the specification", () => {
    // Examples from the specification and from Bitcoin Core (doc/descriptors.md).
    assert.strictEqual(Descriptor.checked("raw(deadbeef)"), "raw(deadbeef)#89f8spxm")
    assert.strictEqual(
      Descriptor.checked(
        "wpkh([d34db33f/84h/0h/0h]xpub6DJ2dNUysrn5Vt36jH2KLBT2i1auw1tTSSomg8PhqNiUtx8QX2SvC9nrHu81fT41fvDUnhMjEzQgXnQjKEu3oaqMSzhSrHMxyyoEAmUHQbY/0/*)"
      ),
      "wpkh([d34db33f/84h/0h/0h]xpub6DJ2dNUysrn5Vt36jH2KLBT2i1auw1tTSSomg8PhqNiUtx8QX2SvC9nrHu81fT41fvDUnhMjEzQgXnQjKEu3oaqMSzhSrHMxyyoEAmUHQbY/0/*)#cjjspncu"
    )
  })

  it("descriptor: changing one character changes the checksum, and invalid characters are rejected", () => {
    const sum = (text: string) => Descriptor.checked(text).slice(-8)
    const text = "raw(deadbeef)"
    for (const at of Array.from(text).keys())
      assert.notStrictEqual(sum(`${text.slice(0, at)}q${text.slice(at + 1)}`), sum(text))
    assert.throws(() => Descriptor.checked("raw(ü)"))
  })

  it("descriptor: each wallet account has a descriptor with its origin, both branches and a checksum", () => {
    const words = Redacted.make(
      "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"
    )
    const all = Descriptor.ofAccounts(Keys.accountsOf(words, "mainnet"))
    // m/84'/0'/0' of these words is BIP 84's test vector, shown there as a zpub.
    assert.match(
      all[1] ?? "",
      /^wpkh\(\[73c5da0a\/84h\/0h\/0h\]xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V\/<0;1>\/\*\)#[a-z0-9]{8}$/
    )
    assert.deepStrictEqual(
      all.map((one) => one.slice(0, one.indexOf("["))),
      ["tr(", "wpkh(", "sh(wpkh("]
    )
    for (const one of all) assert.strictEqual(Descriptor.checked(one.slice(0, -9)), one)
  })
})
