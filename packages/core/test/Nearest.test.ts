import { assert, describe, it } from "@effect/vitest"
import * as Nearest from "../src/base/Nearest.ts"

describe("names that are near", () => {
  const names = ["amount", "currency", "destination", "metadata", "expiry_seconds", "limit", "cursor", "type", "status"]
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
    it(`nearest name: ${JSON.stringify(given)} is ${near === undefined ? "near to none" : `near to ${near}`}`, () => {
      assert.strictEqual(Nearest.member(given, names), near)
    })
  }

  it("nearest name: the nearer of two is taken", () =>
    assert.strictEqual(Nearest.member("created_befor", ["created_after", "created_before"]), "created_before"))

  it("nearest name: a swap of neighbours is one slip, as are a letter more, less, or another", () => {
    const distances = ["ab", "ba", "abc", "a", "ax"].map((one) => Nearest.distance("ab", one, 5))
    assert.deepStrictEqual(distances, [0, 1, 1, 1, 1])
    assert.strictEqual(Nearest.distance("a", "abcdefgh", 3), Infinity)
  })
})
