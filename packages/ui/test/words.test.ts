import { assert, describe, it } from "@effect/vitest"
import { duration, moment } from "../src/checkout/Clock.ts"
import * as Html from "../src/Html.ts"
import { fiat, filled, parts, rate, sats, span, words, worth } from "../src/checkout/Words.ts"

describe("texts of pages", () => {
  it("words: the texts in every language have the same placeholders", () => {
    const gaps = (text: string) => (text.match(/\{\d\}/g) ?? []).toSorted()
    for (const [locale, say] of Object.entries(words))
      for (const [name, text] of Object.entries(say)) {
        assert.deepStrictEqual(
          gaps(text),
          gaps(Object.entries(words.en).find(([one]) => one === name)?.[1] ?? ""),
          `${locale}: ${name}`
        )
        assert.notStrictEqual(text.trim(), "", `${locale}: ${name}`)
      }
    assert.strictEqual(filled("{1} of {2}", "1", "{1}"), "1 of {1}")
  })

  it("words: numbers have Latin digits and precede their unit", () => {
    assert.strictEqual(sats(21_000, "en"), "21,000 sats")
    assert.strictEqual(sats(21_000, "de"), "21.000 sats")
    assert.strictEqual(sats(21_000, "ar"), "\u206621,000 sats\u2069")
  })

  it("words: a single satoshi has a singular unit, in French also none", () => {
    for (const locale of ["en", "de", "es", "fr", "pt"] as const) assert.strictEqual(sats(1, locale), "1 sat")
    assert.strictEqual(sats(1, "ar"), "\u20661 sat\u2069")
    assert.deepStrictEqual([sats(0, "en"), sats(0, "fr"), sats(2, "fr")], ["0 sats", "0 sat", "2 sats"])
  })

  it("words: no sentence with an amount has a plural of its own", () => {
    const plural = /\b(faltan|faltam|recibidos|recebidos|reçus|detectados|détectés|confirmés)\b/i
    for (const [locale, say] of Object.entries(words))
      for (const name of ["stillDue", "receivedOf", "partSeen"] as const)
        assert.notMatch(say[name], plural, `${locale}: ${name}`)
  })

  it("words: a fiat amount is shown with all its digits and at least its currency's number of decimals", () => {
    for (const [amount, currency, locale, text] of [
      ["12.5", "eur", "en", "€12.50"],
      ["12", "usd", "en", "$12.00"],
      ["1250.5", "eur", "de", "1.250,50\u00a0€"],
      ["1250", "jpy", "en", "¥1,250"],
      ["0.125", "eur", "en", "€0.125"],
      ["12.5", "eur", "ar", "\u2066€12.50\u2069"]
    ] as const)
      assert.strictEqual(fiat(amount, currency, locale), text)
  })

  const price = { amount: "42.5", currency: "eur", rate: "62300" }

  it("words: the exchange rate and the fiat value of satoshis use the currency of the price", () => {
    assert.strictEqual(rate(price, "en"), "1 BTC = €62,300")
    assert.strictEqual(rate({ ...price, rate: "61234.567" }, "de"), "1 BTC = 61.234,57\u00a0€")
    assert.strictEqual(worth(12_038, price, "en"), "€7.50")
    assert.deepStrictEqual(
      [rate({ ...price, rate: null }, "en"), worth(1, { ...price, rate: null }, "en")],
      [null, null]
    )
  })

  it("words: received and due amounts add up to the price, regardless of rounding", () => {
    assert.deepStrictEqual(parts(price, 44_944, "en"), {
      received: "€28.00",
      due: "€14.50",
      share: 28 / 42.5
    })
    assert.isNull(parts({ ...price, rate: null }, 1, "en"))
    // A few satoshis are still due, which is not €0.00.
    assert.isNull(parts(price, 68_218, "en"))
    // A few satoshis were received, which are not €0.00.
    assert.isNull(parts(price, 5, "en"))
    assert.strictEqual(parts(price, 0, "en")?.due, "€42.50")
  })

  it("words: an amount due that rounds to zero in the price's currency is shown once, in satoshis", async () => {
    const { bill } = await import(new URL("../src/checkout/Bill.ts", import.meta.url).href)
    for (const [locale, say] of Object.entries(words)) {
      const page = {
        price: {},
        tipPercent: 0,
        locale,
        fiat: price,
        amountSats: 68_218,
        about: null,
        description: "",
        createdAtMillis: 0
      }
      const asking = { sats: 5 }
      const state = {
        asking,
        receivedSats: 34_000,
        pendingSats: 34_213,
        questions: null,
        expiresAtMillis: 1,
        nowMillis: 0
      }
      assert.lengthOf(
        Html.page({ title: "", icon: "", body: bill({ page, state, say, visit: {} }, false) })
          .replaceAll(/<[^>]+>/g, "")
          .match(/(?<![\d.,])5 sats/g) ?? [],
        1,
        locale
      )
    }
  })

  it("words: a time is shown in the given time zone, with Latin digits", () => {
    const millis = Date.UTC(2026, 10, 24, 9, 34, 7)
    assert.strictEqual(moment(millis, "long", "en", "UTC"), "24 November 2026 at 09:34 UTC")
    assert.strictEqual(moment(millis, "long", "de", "UTC"), "24. November 2026 um 09:34 UTC")
    assert.match(moment(millis, "time", "ar", "UTC"), /09:34/)
    assert.match(moment(millis, "long", "en", "Pacific/Auckland"), /^24 November 2026 at 22:34 /)
  })

  it("words: a duration is shown in the largest unit that fits", () => {
    for (const [minutes, text] of [
      [0, "1 minute"],
      [12, "12 minutes"],
      [119, "119 minutes"],
      [150, "3 hours"],
      [4320, "3 days"]
    ] as const)
      assert.strictEqual(span(minutes * 60_000, "en"), text)
  })

  it("words: the remaining time is shown in whole seconds, and never below zero", () => {
    for (const [millis, text] of [
      [3_600_000, "1:00:00"],
      [3_599_001, "1:00:00"],
      [249_000, "04:09"],
      [1, "00:01"],
      [0, "00:00"],
      [-5000, "00:00"]
    ] as const)
      assert.strictEqual(duration(millis), text)
  })
})
