import { assert, describe, it } from "vitest"
import { locales } from "../src/checkout/State.ts"
import * as Words from "../src/checkout/Words.ts"
import { read, separators } from "../src/NumberText.ts"

const said = (text: string, language: keyof typeof separators) => {
  const result = read(text, separators[language])
  return result._tag === "Number" ? result.text : result._tag
}

/** The digit 0 of every script: no decimal digit precedes it, or ten or a multiple of ten do. */
const zeros = (): ReadonlyArray<number> => {
  const found: Array<number> = []
  let run = 0
  for (let point = 0; point <= 0x10ffff; point++) {
    run = /\p{Nd}/u.test(String.fromCodePoint(point)) ? run + 1 : 0
    if (run % 10 === 1) found.push(point)
  }
  return found
}

describe("a number that a person typed", () => {
  it("typed number: the digits of every script are read", () => {
    const all = zeros()
    assert.isAbove(all.length, 60)
    for (const zero of all) {
      const written = (digits: string) =>
        digits.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)))
      assert.strictEqual(said(written("9876543210"), "en"), "9876543210", zero.toString(16))
      assert.strictEqual(said(written("12.50"), "ar"), "12.50", zero.toString(16))
    }
  })

  it("typed number: every amount that a page shows is read back", () => {
    for (const locale of locales)
      for (const value of [1, 999, 1000, 1234, 12_345, 1_234_567, 100_000_000]) {
        assert.strictEqual(
          said(Words.number(value, locale), locale),
          String(value),
          `${locale} ${Words.number(value, locale)}`
        )
        for (const currency of ["eur", "jpy"]) {
          const shown = Words.fiat(`${value}`, currency, locale).replaceAll(/[€¥A-Z]/g, "")
          assert.strictEqual(Number(said(shown, locale)), value, `${locale} ${shown}`)
        }
        assert.strictEqual(
          said(Words.fiat(`${value}.5`, "eur", locale).replace("€", ""), locale),
          `${value}.50`,
          locale
        )
      }
  })

  const cases: ReadonlyArray<
    readonly [text: string, expected: string, ...languages: ReadonlyArray<keyof typeof separators>]
  > = [
    ["12,50", "12.50", ...locales],
    ["12.50", "12.50", ...locales],
    ["12,5", "12.5", ...locales],
    ["0,001", "0.001", ...locales],
    [",5", "0.5", ...locales],
    ["1234,567", "1234.567", ...locales],
    ["007", "7", ...locales],
    ["1,234", "1234", "en", "ar"],
    ["1,234", "Ambiguous", "de", "es", "fr", "pt"],
    ["1.234", "1234", "de", "es", "pt"],
    ["1.234", "1.234", "en", "ar"],
    ["1.234", "Ambiguous", "fr"],
    ["1,2345", "Ambiguous", "en", "ar"],
    ["1,2345", "1.2345", "de", "es", "fr", "pt"],
    ["1.234,56", "1234.56", ...locales],
    ["1,234.56", "1234.56", ...locales],
    ["1.234.567", "1234567", ...locales],
    ["12,34,567.5", "1234567.5", ...locales],
    ["1'234.50", "1234.50", ...locales],
    ["1’234,50", "1234.50", ...locales],
    ["1 234", "1234", ...locales],
    ["1\u00a0234,567", "1234.567", ...locales],
    ["1\u202f234\u202f567", "1234567", ...locales],
    ["1\u2009234", "1234", ...locales],
    ["١٢٫٥٠", "12.50", ...locales],
    ["١٬٢٣٤٫٥", "1234.5", ...locales],
    ["١٬٢٣٤", "1234", ...locales],
    ["١٢،٥٠", "12.50", ...locales],
    ["１２．５０", "12.50", ...locales],
    ["１２，５０", "12.50", ...locales],
    ["\u200f\u061c١٢٫٥\u200f", "12.5", ...locales],
    ["\u00a0 12.50\t", "12.50", ...locales],
    ["+5", "5", ...locales],
    ["-5", "-5", ...locales],
    ["−5", "-5", ...locales],
    ["\u061c-٥", "-5", ...locales],
    ["-0", "0", ...locales],
    ["", "Unreadable", ...locales],
    [".", "Unreadable", ...locales],
    ["5.", "Unreadable", ...locales],
    ["5-", "Unreadable", ...locales],
    ["1e5", "Unreadable", ...locales],
    ["0x10", "Unreadable", ...locales],
    ["Infinity", "Unreadable", ...locales],
    ["5²", "Unreadable", ...locales],
    ["½", "Unreadable", ...locales],
    ["五", "Unreadable", ...locales],
    ["12 €", "Unreadable", ...locales],
    ["1,23,45", "Unreadable", ...locales],
    ["1 23", "Unreadable", ...locales],
    ["1,234,56", "Unreadable", ...locales],
    ["1.2.3,4", "Unreadable", ...locales],
    ["0,123,456", "Unreadable", ...locales],
    ["1 234'567", "Unreadable", ...locales],
    ["1.234,567.8", "Unreadable", ...locales],
    ["9".repeat(65), "Unreadable", ...locales]
  ]
  for (const [text, expected, ...languages] of cases)
    it(`typed number: ${JSON.stringify(text)} is ${expected} in ${languages.join(", ")}`, () => {
      for (const language of languages) assert.strictEqual(said(text, language), expected, language)
    })
})
