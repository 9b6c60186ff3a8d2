import { assert, describe, it } from "@effect/vitest"
import * as Throttle from "../src/base/Throttle.ts"

describe("A throttle", () => {
  it("throttle: lets a burst through, and then one at a time at its rate", () => {
    const may = Throttle.make({ count: 3, everyMillis: 10 })
    assert.deepStrictEqual(
      [0, 0, 0, 0].map((atMillis) => may("a", atMillis)),
      [true, true, true, false]
    )
    assert.deepStrictEqual(
      [9, 10, 10, 19, 20].map((atMillis) => may("a", atMillis)),
      [false, true, false, false, true]
    )
    assert.deepStrictEqual(
      [1000, 1000, 1000, 1000].map((atMillis) => may("a", atMillis)),
      [true, true, true, false]
    )
  })

  it("throttle: says how many are left, when the next may be, and when all may be again", () => {
    const take = Throttle.meter({ count: 3, everyMillis: 10 })
    assert.deepStrictEqual(take("a", 0), { isWithin: true, left: 2, nextMillis: 0, wholeMillis: 10 })
    assert.deepStrictEqual(take("a", 5), { isWithin: true, left: 1, nextMillis: 0, wholeMillis: 15 })
    assert.deepStrictEqual(take("a", 5), { isWithin: true, left: 0, nextMillis: 5, wholeMillis: 25 })
    assert.deepStrictEqual(take("a", 6), { isWithin: false, left: 0, nextMillis: 4, wholeMillis: 24 })
    assert.deepStrictEqual(take("a", 10), { isWithin: true, left: 0, nextMillis: 10, wholeMillis: 30 })
  })

  it("throttle: a clock that is put back keeps nobody waiting for longer than its rate", () => {
    const may = Throttle.make({ count: 1, everyMillis: 10 })
    assert.isTrue(may("a", 1_000_000))
    assert.isFalse(may("a", 0))
    assert.isTrue(may("a", 1_000_010))
  })

  it("throttle: counts each name by itself, and nothing that it refused", () => {
    const may = Throttle.make({ count: 1, everyMillis: 10 })
    assert.isTrue(may("a", 0))
    assert.isTrue(may("b", 0))
    for (let atMillis = 0; atMillis < 10; atMillis++) assert.isFalse(may("a", atMillis))
    assert.isTrue(may("a", 10))
  })

  it("throttle: forgets the name that was quiet longest when there are too many", () => {
    const may = Throttle.make({ count: 1, everyMillis: 1_000_000 })
    assert.isTrue(may("first", 0))
    assert.isTrue(may("second", 0))
    for (let n = 0; n < 99_999; n++) may(`n${n}`, 0)
    assert.isTrue(may("first", 0))
    assert.isFalse(may("n99998", 0))
  })
})
