import { assert, describe, it } from "@effect/vitest"
import * as Throttle from "../src/base/Throttle.ts"

describe("A throttle", () => {
  it("throttle: a throttle allows a burst, and then single requests at its rate", () => {
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

  it("throttle: a throttle reports how many requests remain, when the next one is allowed, and when all are available again", () => {
    const take = Throttle.meter({ count: 3, everyMillis: 10 })
    assert.deepStrictEqual(take("a", 0), [{ isWithin: true, left: 2, nextMillis: 0, wholeMillis: 10 }])
    assert.deepStrictEqual(take("a", 5), [{ isWithin: true, left: 1, nextMillis: 0, wholeMillis: 15 }])
    assert.deepStrictEqual(take("a", 5), [{ isWithin: true, left: 0, nextMillis: 5, wholeMillis: 25 }])
    assert.deepStrictEqual(take("a", 6), [{ isWithin: false, left: 0, nextMillis: 4, wholeMillis: 24 }])
    assert.deepStrictEqual(take("a", 10), [{ isWithin: true, left: 0, nextMillis: 10, wholeMillis: 30 }])
  })

  it("throttle: a request must be within each of several rates, and a request above one rate does not count toward the others", () => {
    const take = Throttle.meter({ count: 3, everyMillis: 100 }, { count: 2, everyMillis: 10 })
    const within = (atMillis: number) =>
      take("a", atMillis).map(({ isWithin, left }) => `${isWithin} ${left}`)
    assert.deepStrictEqual(
      [0, 0, 0, 20, 20, 40, 100].map((atMillis) => within(atMillis)),
      [
        ["true 2", "true 1"],
        ["true 1", "true 0"],
        ["true 1", "false 0"],
        ["true 0", "true 1"],
        ["false 0", "true 1"],
        ["false 0", "true 2"],
        ["true 0", "true 1"]
      ]
    )
  })

  it("throttle: a throttle allows exactly its number of requests at any clock time, even if that number does not divide the period evenly", () => {
    for (const count of [3, 7, 11, 60, 333, 700, 7919])
      for (const atMillis of [0, 1_700_000_000_123, 1_799_999_999_999]) {
        const take = Throttle.meter(Throttle.perSecond(count), Throttle.perMinute(count))
        const taken = Array.from({ length: count + 1 }, () => take("a", atMillis))
        const wanted = Array.from({ length: count + 1 }, (_, n) =>
          n < count ? [count - n - 1, count - n - 1] : [0, 0]
        )
        assert.deepStrictEqual(
          taken.map((rooms) => rooms.map(({ left }) => left)),
          wanted,
          `${count}`
        )
        assert.isFalse(taken.at(-1)?.some(({ isWithin }) => isWithin))
      }
  })

  it("throttle: after the clock is set back, each name waits as long as before, and is allowed no more", () => {
    const rate = { count: 2, everyMillis: 10_000 }
    const [may, callersMay] = [Throttle.make(rate), Throttle.callers(rate)]
    const ask = (name: string, atMillis: number) => {
      const is = may(name, atMillis)
      assert.strictEqual(callersMay(name, atMillis).isWithin, is)
      return is
    }
    const [busy, quiet] = ["203.0.113.7", "198.51.100.7"]
    let atMillis = 1_000_000
    for (const backMillis of [900_000, 15_000, 5000]) {
      const whenFull = [busy, busy, busy, quiet].map((name) => ask(name, atMillis))
      atMillis -= backMillis
      const after = [busy, quiet, quiet].map((name) => ask(name, atMillis))
      const later = [9800, 10_000, 10_000].map((millis) => ask(busy, atMillis + millis))
      assert.deepStrictEqual(
        [whenFull, after, later],
        [
          [true, true, false, true],
          [false, true, false],
          [false, true, false]
        ]
      )
      atMillis += 60_000
    }
  })

  it("throttle: a request whose time was read before that of another does not let time pass faster", () => {
    const may = Throttle.make({ count: 1, everyMillis: 10_000 })
    assert.isTrue(may("a", 0))
    for (let n = 0; n < 100; n++) for (const atMillis of [500, 0]) assert.isFalse(may("a", atMillis))
    assert.isFalse(may("a", 9800))
    assert.isTrue(may("a", 10_000))
  })

  it("throttle: each name is counted separately, and refused requests are not counted", () => {
    const may = Throttle.make({ count: 1, everyMillis: 10 })
    assert.isTrue(may("a", 0))
    assert.isTrue(may("b", 0))
    for (let atMillis = 0; atMillis < 10; atMillis++) assert.isFalse(may("a", atMillis))
    assert.isTrue(may("a", 10))
  })

  it("throttle: if there are too many names, the least recently seen name is evicted", () => {
    const may = Throttle.make({ count: 1, everyMillis: 1_000_000 })
    assert.isTrue(may("first", 0))
    assert.isTrue(may("second", 0))
    for (let n = 0; n < 99_999; n++) may(`n${n}`, 0)
    assert.isTrue(may("first", 0))
    assert.isFalse(may("n99998", 0))
  })
})
