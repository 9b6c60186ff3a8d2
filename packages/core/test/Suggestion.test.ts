import { assert, describe, it } from "@effect/vitest"
import * as Suggestion from "../src/base/Suggestion.ts"

describe("Similar names", () => {
  const names = [
    "amount",
    "currency",
    "destination",
    "metadata",
    "expiry_seconds",
    "limit",
    "cursor",
    "type",
    "status"
  ]
  const cases: ReadonlyArray<readonly [given: string, near: string | undefined]> = [
    ["metdata", "metadata"],
    ["METADATA", "metadata"],
    ["expirySeconds", "expiry_seconds"],
    ["expiry-seconds", "expiry_seconds"],
    ["dest", "destination"],
    ["limti", "limit"],
    ["stauts", "status"],
    ["am", undefined],
    ["x", undefined],
    ["colour", undefined],
    ["", undefined],
    ["amount_in_satoshis_of_the_order", undefined]
  ]
  for (const [given, near] of cases) {
    it(`nearest name: ${JSON.stringify(given)} ${near === undefined ? "is close to no name" : `is close to ${near}`}`, () => {
      assert.strictEqual(Suggestion.member(given, names), near)
    })
  }

  it("nearest name: the closer of two names is chosen", () =>
    assert.strictEqual(
      Suggestion.member("created_befor", ["created_after", "created_before"]),
      "created_before"
    ))

  it("nearest name: a swap of adjacent letters counts as one mistake, like an extra, missing or wrong letter", () => {
    const distances = ["ab", "ba", "abc", "a", "ax"].map((one) => Suggestion.editDistance("ab", one, 5))
    assert.deepStrictEqual(distances, [0, 1, 1, 1, 1])
    assert.strictEqual(Suggestion.editDistance("a", "abcdefgh", 3), Infinity)
  })
})
