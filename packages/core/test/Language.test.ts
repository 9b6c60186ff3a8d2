import { assert, describe, it } from "@effect/vitest"
import * as Language from "../src/base/Language.ts"

describe("languages", () => {
  it("language: tags and POSIX locales give their language, and others none; only what is neither is refused", () => {
    for (const [tag, language] of [
      ["de", "de"],
      ["DE", "de"],
      ["pt-BR", "pt"],
      ["pt_BR", "pt"],
      ["de_DE.UTF-8", "de"],
      ["de_DE@euro", "de"],
      ["en-GB-oxendict", "en"],
      ["es-419", "es"],
      ["ar-u-nu-arab", "ar"],
      ["ara", "ar"],
      ["deu_DE", "de"],
      ["eng", "en"],
      ["zh-Hant-TW", undefined],
      ["he", undefined],
      ["iw", undefined],
      ["tlh", undefined],
      ["est", undefined],
      ["den", undefined],
      ["C", undefined],
      ["C.UTF-8", undefined],
      ["POSIX", undefined],
      ["x-private", undefined],
      ["i-klingon", undefined],
      ["auto", undefined],
      ["", undefined]
    ] as const) {
      assert.strictEqual(Language.languageOf(tag), language, tag)
      assert.isUndefined(Language.tagIssue(tag), tag)
    }
    for (const text of [
      "de DE",
      "-de",
      "de-",
      "de/AT",
      "<b>",
      "Deutsch (Österreich)",
      "1",
      "de\u0000",
      "x".repeat(101)
    ])
      assert.isDefined(Language.tagIssue(text), text)
  })

  it("language: the first available language that a browser accepts is used, in the order of its weights", () => {
    for (const [header, language] of [
      ["", undefined],
      ["*", undefined],
      ["tlh", undefined],
      ["pt-BR,pt;q=0.9", "pt"],
      ["tlh, ar;q=0.5", "ar"],
      ["en;q=0.3, de;q=0.8", "de"],
      ["de;q=0, fr", "fr"],
      ["est, es;q=0.1", "es"],
      ["fr;q=x, de;q=0.5", "fr"],
      [",;,de", "de"]
    ] as const)
      assert.strictEqual(Language.accepted(header), language, header)
  })
})
