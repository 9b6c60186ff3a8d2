import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Rfc3339 from "../src/base/Rfc3339.ts"

const millisOf = (text: string) => Result.getOrThrow(Result.map(Rfc3339.parse(text), ({ millis }) => millis))

/** Numbers that repeat only after 2^31 - 2 of them (Park and Miller). */
const numbers = (seed: number) => {
  let state = seed
  const below = (count: number) => (state = (state * 48_271) % 2_147_483_647) % count
  return {
    below,
    pick: (texts: readonly [string, ...Array<string>]) => texts[below(texts.length)] ?? texts[0]
  }
}

describe("timestamps (RFC 3339)", () => {
  it("timestamp: the examples of RFC 3339, section 5.8, are the instants that it says", () => {
    for (const [text, same] of [
      ["1985-04-12T23:20:50.52Z", "1985-04-12T23:20:50.520Z"],
      ["1996-12-19T16:39:57-08:00", "1996-12-20T00:39:57.000Z"],
      ["1990-12-31T23:59:60Z", "1991-01-01T00:00:00.000Z"],
      ["1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00.000Z"],
      ["1937-01-01T12:00:27.87+00:20", "1937-01-01T11:40:27.870Z"]
    ] as const)
      assert.strictEqual(new Date(millisOf(text)).toISOString(), same, text)
  })

  it("timestamp: any number of decimals, any offset and any letter case are the same instant", () => {
    const random = numbers(1)
    const two = (number: number) => String(number).padStart(2, "0")
    for (let count = 0; count < 2000; count++) {
      const millis = Date.UTC(1970 + random.below(8000), random.below(12)) + random.below(2_147_483_646)
      const [minutes, sign] = [random.below(24 * 60), random.pick(["+", "-"])]
      const there = new Date(millis + minutes * 60_000 * (sign === "+" ? 1 : -1)).toISOString()
      const digits = there.slice(20, 23)
      const decimals = random.pick([
        digits,
        digits + "0".repeat(random.below(30)),
        `${digits}${1 + random.below(999_999_999)}`
      ])
      const offset =
        minutes === 0
          ? random.pick(["Z", "z", "+00:00", "-00:00"])
          : `${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
      const text = `${there.slice(0, 10)}${random.pick(["T", "t", " "])}${there.slice(11, 19)}.${decimals}${offset}`
      const isRounded = /[1-9]/.test(decimals.slice(3))
      assert.deepStrictEqual(Rfc3339.parse(text), Result.succeed({ millis, isRounded }), text)
    }
  })

  it("timestamp: the earliest and the latest year are read, and instants outside them in UTC are refused", () => {
    assert.strictEqual(new Date(millisOf("0000-01-01T00:00:00Z")).toISOString(), "0000-01-01T00:00:00.000Z")
    assert.strictEqual(new Date(millisOf("0001-01-01T00:00:00Z")).toISOString(), "0001-01-01T00:00:00.000Z")
    assert.strictEqual(
      new Date(millisOf("9999-12-31T23:59:59.999Z")).toISOString(),
      "9999-12-31T23:59:59.999Z"
    )
    const years = "it must be in the years 0000 to 9999 in UTC"
    for (const text of ["0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "9999-12-31T23:59:60Z"])
      assert.deepStrictEqual(Rfc3339.parse(text), Result.fail(years), text)
  })

  it("timestamp: what is not one instant is refused with its reason", () => {
    const zone = "its time and time zone are missing (Z, or an offset such as +02:00)"
    const leap = "only the last minute of a month in UTC can have a second 60, a leap second"
    for (const [text, reason] of [
      ["", ""],
      ["yesterday", ""],
      ["1769860800", ""],
      ["1769860800000", ""],
      ["31.01.2026", ""],
      ["2026-1-31T12:00:00Z", ""],
      ["2026-01-31T12:00Z", ""],
      ["2026-01-31T12:00:00.Z", ""],
      ["2026-01-31T12:00:00,5Z", ""],
      ["2026-01-31T12:00:00+0200", ""],
      ["2026-01-31T12:00:00+02", ""],
      ["2026-01-31T12:00:00Z ", ""],
      ["2026-01-31T12:00:00Z\n", ""],
      ["2026-01-31T12:00:00 Z", ""],
      ["+12026-01-31T12:00:00Z", ""],
      ["20260131T120000Z", ""],
      ["٢٠٢٦-01-31T12:00:00Z", ""],
      ["2026-01-31", zone],
      ["2026-01-31T12:00", zone],
      ["2026-01-31T12:00:00", zone],
      ["2026-01-31 12:00:00.123456", zone],
      ["2026-01-31T12:00:00 02:00", "it has a space where its offset begins (encode + as %2B in a query)"],
      ["2026-02-30T12:00:00Z", "there is no 2026-02-30"],
      ["2025-02-29T12:00:00Z", "there is no 2025-02-29"],
      ["1900-02-29T12:00:00Z", "there is no 1900-02-29"],
      ["2026-13-01T00:00:00Z", "there is no 2026-13-01"],
      ["2026-00-01T00:00:00Z", "there is no 2026-00-01"],
      ["2026-01-32T00:00:00Z", "there is no 2026-01-32"],
      ["2026-01-31T24:00:00Z", "there is no 24:00:00"],
      ["2026-01-31T12:60:00Z", "there is no 12:60:00"],
      ["2026-01-31T23:59:61Z", "there is no 23:59:61"],
      ["2026-01-31T12:00:00+24:00", "there is no offset +24:00"],
      ["2026-01-31T12:00:00-01:60", "there is no offset -01:60"],
      ["2026-01-31T12:00:60Z", leap],
      ["2026-01-30T23:59:60Z", leap],
      ["2026-01-31T23:59:60+02:00", leap]
    ] as const)
      assert.deepStrictEqual(Rfc3339.parse(text), Result.fail(reason), text)
  })
})
