import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result, Schema } from "effect"
import * as Decimal from "../src/base/Decimal.ts"

const read = (text: string) => {
  const parsed = Decimal.parse(text)
  return Result.isFailure(parsed) ? parsed.failure.reason : `${parsed.success.digits}/${parsed.success.scale}`
}

describe("Decimal", () => {
  it("decimal: every form of a JSON number is parsed", () => {
    assert.deepStrictEqual(
      ["21", "21.0", "2.10", "2.1e-7", "-1", "1e3", "1E+3", "0", "-0.0", "0.00000021", "1.5e1"].map(read),
      ["21/0", "21/0", "21/1", "21/8", "-1/0", "1000/0", "1000/0", "0/0", "0/0", "21/8", "15/0"]
    )
  })

  it("C34: decimal: a decimal keeps digits that a floating-point number would lose", () => {
    assert.strictEqual(read("9007199254740993"), "9007199254740993/0")
    assert.strictEqual(read("0.1000000000000000055"), "1000000000000000055/19")
  })

  it("decimal: a string that is not a JSON number is refused", () => {
    for (const text of [
      "",
      " 1",
      "1 ",
      "+1",
      "01",
      ".5",
      "5.",
      "1e",
      "0x10",
      "1_000",
      "1,5",
      "NaN",
      "Infinity",
      "٣",
      "--1",
      "1.2.3"
    ]) {
      assert.strictEqual(read(text), "malformed", text)
    }
  })

  it("decimal: a number that cannot be computed in bounded time is refused", () => {
    assert.strictEqual(read("1e999999999"), "exponent_out_of_range")
    assert.strictEqual(read("1e-33"), "exponent_out_of_range")
    assert.strictEqual(read("1e32"), `1${"0".repeat(32)}/0`)
    assert.strictEqual(read("1".repeat(65)), "too_long")
  })

  it.prop(
    "decimal: a formatted value is parsed as the same value",
    {
      digits: Arbitrary.schema(
        Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: -(10n ** 40n), maximum: 10n ** 40n }))
      ),
      scale: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 })))
    },
    ({ digits, scale }) => {
      const decimal = Decimal.make(digits, scale)
      assert.deepStrictEqual(Result.getOrThrow(Decimal.parse(Decimal.format(decimal))), decimal)
    },
    { arbitrary: { seed: 11, runs: 200 } }
  )
})

describe("Decimal.ofJsonMember", () => {
  const member = (json: string) => {
    const found = Decimal.ofJsonMember(json, "amount")
    return Result.isFailure(found) ? found.failure.reason : found.success && Decimal.format(found.success)
  }

  it("JSON text: a number is read from its original text, not from a float", () => {
    assert.strictEqual(member(`{"amount":0.1000000000000000055}`), "0.1000000000000000055")
    assert.strictEqual(member(`{"amount": 2.1e-7 }`), "0.00000021")
    assert.strictEqual(member(`{"amount":9007199254740993,"currency":"sats"}`), "9007199254740993")
  })

  it("JSON text: only top-level fields are read", () => {
    assert.strictEqual(member(`{"metadata":{"amount":5},"amount":7}`), "7")
    assert.strictEqual(member(`{"amount":7,"metadata":{"amount":5}}`), "7")
    assert.strictEqual(member(`{"metadata":{"amount":5}}`), undefined)
    assert.strictEqual(member(`[{"amount":5}]`), undefined)
  })

  it.prop(
    "JSON text: the result equals that of JSON.parse, whatever the formatting and the other fields",
    {
      beside: Arbitrary.schema(Schema.Json),
      amount: Arbitrary.schema(Schema.Int),
      blank: Arbitrary.schema(Schema.Literals(["", " ", "\n\t"]))
    },
    ({ beside, amount, blank }) => {
      const text = `{${blank}"a":${JSON.stringify(beside, null, blank)},${blank}"am\\u006funt"${blank}:${blank}${amount}${blank}}`
      assert.strictEqual(member(text), String(JSON.parse(text).amount))
    },
    { arbitrary: { seed: 12, runs: 200 } }
  )

  it("JSON text: if a field is repeated, the last one counts, as in JSON.parse", () =>
    assert.strictEqual(member(`{"amount":1,"amount":2}`), "2"))

  it("JSON text: an absent or null field counts as not given", () => {
    assert.strictEqual(member("{}"), undefined)
    assert.strictEqual(member(`{"amount":null}`), undefined)
  })

  it("JSON text: a value that is not a number is refused", () => {
    for (const json of [`{"amount":"1"}`, `{"amount":true}`, `{"amount":{"amount":1}}`, `{"amount":[1]}`])
      assert.strictEqual(member(json), "not_a_number", json)
    assert.strictEqual(member(`{"amount":1e999999999}`), "exponent_out_of_range")
  })
})
