import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import * as Seed from "../src/Seed.ts"

describe("BIP 39, 24 words", () => {
  for (const [entropy, words] of [
    ["00".repeat(32), `${"abandon ".repeat(23)}art`],
    [
      "7f".repeat(32),
      `${"legal winner thank year wave sausage worth useful ".repeat(2)}legal winner thank year wave sausage worth title`
    ],
    ["ff".repeat(32), `${"zoo ".repeat(23)}vote`]
  ] as const) {
    it(`BIP 39: entropy ${entropy.slice(0, 8)}… is converted to the vector's words, which can be parsed`, () => {
      const made = Seed.fromEntropy(Buffer.from(entropy, "hex"))
      assert.strictEqual(Redacted.value(made), words)
      assert.strictEqual(
        Redacted.value(Result.getOrThrow(Seed.parse(`  ${words.toUpperCase().replaceAll(" ", "\n ")} `))),
        words
      )
    })
  }

  it("BIP 39: an invalid phrase is rejected, and the error does not repeat the phrase", () => {
    for (const wrong of [
      "",
      "abandon",
      `${"abandon ".repeat(23)}abandon`,
      `${"abandon ".repeat(22)}art abandon`,
      "seed ".repeat(24)
    ]) {
      const error = Result.getOrThrow(Result.flip(Seed.parse(wrong)))
      assert.notInclude(error.message, "abandon")
    }
  })

  it("C56: seed: printing a seed does not show its words", () => {
    assert.notInclude(String(Seed.fromEntropy(new Uint8Array(32))), "abandon")
  })
})
