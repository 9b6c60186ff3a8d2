import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Entropy } from "../src/base/Entropy.ts"
import * as Id from "../src/base/Id.ts"

const zeros = (size: number) => new Uint8Array(size)
const ones = (size: number) => new Uint8Array(size).fill(0xff)
const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe("UUIDv7 ids (RFC 9562)", () => {
  it("id: an id begins with the time, and has the right version and variant for any random bytes", () => {
    assert.strictEqual(Id.fromMillis(0x017f22e279b0, zeros), "017f22e2-79b0-7000-8000-000000000000") // the time of RFC 9562, A.6
    assert.strictEqual(Id.fromMillis(0x017f22e279b0, ones), "017f22e2-79b0-7fff-bfff-ffffffffffff")
    assert.strictEqual(Id.fromMillis(0, zeros), "00000000-0000-7000-8000-000000000000")
  })

  it.effect("id: no id repeats", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_700_000_000_000)
      const ids = yield* Effect.forEach(Array.from({ length: 10_000 }), () => Id.make)
      assert.strictEqual(new Set(ids).size, ids.length)
      for (const id of ids) assert.match(id, shape)
    })
  )

  it.effect("id: ids sort by time", () =>
    Effect.gen(function* () {
      const entropy = yield* Entropy
      const ids = Array.from({ length: 100 }, (_, at) => Id.fromMillis(1_700_000_000_000 + at, entropy))
      assert.deepStrictEqual(ids.toSorted(), ids)
    })
  )

  it("id: an id is recognized by its format", () => {
    assert.isTrue(Id.is(Id.nil))
    assert.isTrue(Id.is(Id.fromMillis(1, ones)))
    for (const text of [
      "",
      "x",
      `${Id.nil}0`,
      ` ${Id.nil}`,
      `${Id.nil}\n`,
      Id.fromMillis(1, ones).toUpperCase(),
      "../../../../etc/passwd"
    ]) {
      assert.isFalse(Id.is(text), JSON.stringify(text))
    }
  })
})

describe("Entropy", () => {
  it.effect("entropy: every call returns the requested number of bytes, and no bytes repeat", () =>
    Effect.gen(function* () {
      const entropy = yield* Entropy
      const seen = new Set<string>()
      for (const size of [10, 16, 32, 2048, 4096, 32, 10]) {
        const bytes = entropy(size)
        assert.strictEqual(bytes.length, size)
        for (let at = 0; at + 10 <= size; at += 10) seen.add(Id.toHex(bytes.slice(at, at + 10)))
      }
      assert.strictEqual(seen.size, 1 + 1 + 3 + 204 + 409 + 3 + 1)
    })
  )
})
