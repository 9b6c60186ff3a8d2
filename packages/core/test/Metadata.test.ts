import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Metadata from "../src/base/Metadata.ts"

const keys = (count: number): Metadata.Metadata =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, "v"]))
const wave = "\u{1F30A}" // one character made of two UTF-16 code units

const good: ReadonlyArray<readonly [string, Metadata.Metadata]> = [
  ["nothing", {}],
  ["50 keys", keys(50)],
  ["a key of 40 characters", { ["k".repeat(40)]: "" }],
  ["a key of 40 characters outside the BMP", { [wave.repeat(40)]: "" }],
  ["a value of 500 characters", { k: "v".repeat(500) }],
  ["a value of 500 characters outside the BMP", { k: wave.repeat(500) }],
  ["names of built-in JavaScript properties", { constructor: "a", toString: "b" }]
]

const bad: ReadonlyArray<readonly [string, Metadata.Metadata, path: string]> = [
  ["51 keys", keys(51), "metadata"],
  ["an empty key", { "": "v" }, "metadata"],
  ["a key of 41 characters", { ["k".repeat(41)]: "v" }, "metadata"],
  ["a value of 501 characters", { k: "v".repeat(501) }, "metadata.k"],
  ["NUL in a value", { k: "a\0b" }, "metadata.k"],
  ["NUL in a key", { "a\0b": "v" }, "metadata.a\0b"],
  ["half a character", { k: "\ud83c" }, "metadata.k"]
]

describe("Metadata", () => {
  for (const [what, metadata] of good) it.effect(`metadata: allows ${what}`, () => Metadata.check(metadata))
  for (const [what, metadata, path] of bad) {
    it.effect(`metadata: refuses ${what}`, () =>
      Effect.gen(function* () {
        const refused = yield* Effect.flip(Metadata.check(metadata))
        assert.strictEqual(refused.path, path)
      })
    )
  }

  it("metadata: every issue names its key, but the text of a key that is too long is not repeated", () => {
    const issues = Metadata.issues({ good: "v", a: "v".repeat(501), ["k".repeat(41)]: "v", b: "\0" })
    assert.deepStrictEqual(
      issues.map(({ path }) => path),
      [["a"], [], ["b"]]
    )
    assert.notInclude(JSON.stringify(issues), "kkk")
    assert.deepStrictEqual(Metadata.issues(keys(50)), [])
  })

  it("metadata: if there are too many keys, no other issue is reported", () =>
    assert.lengthOf(Metadata.issues({ ...keys(5000), "": "v" }), 1))
})
