import { assert, describe, it } from "@effect/vitest"
import { accepted, duration, fiat, filled, sats, words } from "../src/checkout/Words.ts"

describe("What a page says", () => {
  it("words: every language fills the same gaps", () => {
    const gaps = (text: string) => (text.match(/\{\d\}/g) ?? []).toSorted()
    for (const [locale, say] of Object.entries(words))
      for (const [name, text] of Object.entries(say)) {
        assert.deepStrictEqual(gaps(text), gaps(Object.entries(words.en).find(([one]) => one === name)?.[1] ?? ""), `${locale}: ${name}`)
        assert.notStrictEqual(text.trim(), "", `${locale}: ${name}`)
      }
    assert.strictEqual(filled("{1} of {2}", "1", "{1}"), "1 of {1}")
  })

  it("words: digits are Latin, and stay before their unit", () => {
    assert.strictEqual(sats(21_000, "en"), "21,000 sats")
    assert.strictEqual(sats(21_000, "de"), "21.000 sats")
    assert.strictEqual(sats(21_000, "ar"), "\u206621,000 sats\u2069")
  })

  it("words: fiat has the digits of its currency at least, and every digit that was asked for", () => {
    for (const [amount, currency, locale, text] of [
      ["12.5", "eur", "en", "12.50 EUR"],
      ["12", "usd", "en", "12.00 USD"],
      ["1250.5", "eur", "de", "1.250,50 EUR"],
      ["1250", "jpy", "en", "1,250 JPY"],
      ["0.125", "eur", "en", "0.125 EUR"],
      ["12.5", "eur", "ar", "\u206612.50 EUR\u2069"]
    ] as const)
      assert.strictEqual(fiat(amount, currency, locale), text)
  })

  it("words: time is counted in whole seconds, and never below none", () => {
    for (const [millis, text] of [
      [3_600_000, "1:00:00"],
      [3_599_001, "1:00:00"],
      [249_000, "4:09"],
      [1, "0:01"],
      [0, "0:00"],
      [-5000, "0:00"]
    ] as const)
      assert.strictEqual(duration(millis), text)
  })

  it("words: a browser's language is taken where there is one", () => {
    for (const [header, locale] of [
      [undefined, "en"],
      ["pt-BR,pt;q=0.9", "pt"],
      ["tlh, ar;q=0.5", "ar"],
      ["tlh", "en"]
    ] as const)
      assert.strictEqual(accepted(header), locale)
  })
})
