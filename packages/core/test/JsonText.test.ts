import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import * as JsonText from "../src/base/JsonText.ts"

const cases: ReadonlyArray<readonly [text: string, repeated: ReadonlyArray<string>]> = [
  ["{}", []],
  [`{"a":1,"b":2}`, []],
  [`{"currency":"sats","currency":"btc"}`, ["currency"]],
  [`{"a":1,"b":1,"a":2,"b":2,"a":3}`, ["a", "b"]],
  [`{ "a" : 1 ,\n\t"a"\r: 2 }`, ["a"]],
  // The same name twice, escaped differently.
  [`{"a":1,"\\u0061":2}`, ["a"]],
  [`{"\\"":1,"\\"":2}`, ['"']],
  [`{"__proto__":1,"__proto__":2}`, ["__proto__"]],
  // A name in a nested object or in a value is not a duplicate.
  [`{"a":{"a":1},"b":[{"a":1},{"a":2}]}`, []],
  [`{"a":"a","b":"a","c":"\\",\\"a\\":1,\\"a\\":2"}`, []],
  [`{"a":"}","a":"{"}`, ["a"]],
  [`{"m":{"a":"1","b":"2","\\u0061":"3"},"a":1}`, ["m.a"]],
  [`{"m":[{"a":1},{"a":{"b":1,"b":2}}],"b":1}`, ["m.a.b"]],
  [`[{"a":1,"a":2},["a","a"]]`, ["a"]],
  [`["a","a"]`, []],
  [`"a"`, []],
  ["", []],
  // Invalid JSON is rejected elsewhere. Here the function must only terminate.
  [`{"a":1,"a`, []],
  [`{"\\`, []],
  [`{"\\x":1,"\\x":2}`, ["\\x"]],
  // The time must not grow with the square of the depth.
  [`{"a":`.repeat(100_000), []]
]

describe("JsonText.repeatedMembers", () => {
  for (const [text, repeated] of cases) {
    it(`${text.slice(0, 60)}: ${repeated.join(", ") || "none"}`, () =>
      assert.deepStrictEqual(JsonText.repeatedMembers(text, String), repeated))
  }
})

describe("JsonText.hasMoreValues", () => {
  for (const [text, count] of [
    ['{"a":{"b":1},"c":[1,2]}', 6],
    ['{"a":":::","b":1}', 3],
    // Invalid JSON, in which nothing but a colon follows each name.
    ['{"a":"b":"c":"d":1}', 4]
  ] as const)
    it(`${text}: more than ${count - 1}, but not more than ${count}`, () => {
      assert.isTrue(JsonText.hasMoreValues(text, count - 1))
      assert.isFalse(JsonText.hasMoreValues(text, count))
    })
})

describe("The position of a JSON syntax error", () => {
  const places: ReadonlyArray<readonly [text: string, at: number | undefined]> = [
    ["", 0],
    ["  ", 2],
    ["{}", undefined],
    [" [ ] ", undefined],
    ["-0.5e+10", undefined],
    ["01", 1],
    ["1.", 2],
    ["1.x", 2],
    ["-", 1],
    ["+1", 0],
    ["1e", 2],
    ["tru", 3],
    ["trve", 2],
    ["nul", 3],
    ["NaN", 0],
    ['"a', 2],
    ['"a\n"', 2],
    ['"\\x"', 2],
    ['"\\u12g4"', 5],
    ['"\\ud800"', undefined],
    ["'a'", 0],
    ["{,}", 1],
    ['{"a"}', 4],
    ['{"a":}', 5],
    ['{"a":1,}', 7],
    ['{"a":1 "b":2}', 7],
    ["{a:1}", 1],
    ["[1,]", 3],
    ["[1 2]", 3],
    ["[1}", 2],
    ['{"a":[1}', 7],
    ["{} {}", 3],
    ["// a\n{}", 0],
    ["\u00a0{}", 0],
    ["[".repeat(100_000), 100_000]
  ]
  for (const [text, at] of places) {
    it(`JSON text: ${JSON.stringify(text.slice(0, 20))} ${at === undefined ? "is JSON" : `stops being JSON at ${at}`}`, () => {
      assert.strictEqual(JsonText.errorAt(text), at)
    })
  }

  it.prop(
    "JSON text: the parser rejects the same strings as JSON.parse, and the position it reports is never before the edit that broke a valid string",
    {
      value: Arbitrary.schema(Schema.Json),
      indent: Arbitrary.schema(Schema.Literals([0, 1])),
      where: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))),
      taken: Arbitrary.schema(Schema.Literals([0, 1])),
      given: Arbitrary.schema(Schema.Literals(["", ...'{}[]",:\\ \n0-+.eEtnx\u0001']))
    },
    ({ value, indent, where, taken, given }) => {
      const right = JSON.stringify(value, null, indent)
      assert.isUndefined(JsonText.errorAt(right), right)
      const from = where % (right.length + 1)
      const wrong = right.slice(0, from) + given + right.slice(from + taken)
      const at = JsonText.errorAt(wrong)
      assert.strictEqual(at === undefined, JsonText.parsed(wrong) !== undefined, wrong)
      if (at !== undefined) assert.isTrue(at >= from && at <= wrong.length, `${at} in ${wrong}`)
    },
    { arbitrary: { seed: 11, runs: 2000 } }
  )

  it("JSON text: a position counts lines and characters as editors do", () => {
    assert.deepStrictEqual(JsonText.placeOf("ab", 0), { line: 1, column: 1, offset: 0 })
    assert.deepStrictEqual(JsonText.placeOf("🟠\n🟠x", 5), { line: 2, column: 2, offset: 3 })
  })
})
