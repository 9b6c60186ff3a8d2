import { assert, describe, it } from "@effect/vitest"
import * as JsonText from "../src/base/JsonText.ts"

const cases: ReadonlyArray<readonly [text: string, repeated: ReadonlyArray<string>]> = [
  ["{}", []],
  [`{"a":1,"b":2}`, []],
  [`{"currency":"sats","currency":"btc"}`, ["currency"]],
  [`{"a":1,"b":1,"a":2,"b":2,"a":3}`, ["a", "b"]],
  [`{ "a" : 1 ,\n\t"a"\r: 2 }`, ["a"]],
  // The same name, written in two ways.
  [`{"a":1,"\\u0061":2}`, ["a"]],
  [`{"\\"":1,"\\"":2}`, ['"']],
  [`{"__proto__":1,"__proto__":2}`, ["__proto__"]],
  // Deeper down, and in a value, a name is another one.
  [`{"a":{"a":1},"b":[{"a":1},{"a":2}]}`, []],
  [`{"a":"a","b":"a","c":"\\",\\"a\\":1,\\"a\\":2"}`, []],
  [`{"a":"}","a":"{"}`, ["a"]],
  [`["a","a"]`, []],
  [`"a"`, []],
  ["", []],
  // What is not JSON is for others to refuse: here it must only end.
  [`{"a":1,"a`, []],
  [`{"\\`, []],
  [`{"\\x":1,"\\x":2}`, ["\\x"]]
]

describe("JsonText.repeatedMembers", () => {
  for (const [text, repeated] of cases) {
    it(`${text}: ${repeated.join(", ") || "none"}`, () => assert.deepStrictEqual(JsonText.repeatedMembers(text), repeated))
  }
})
