import { assert, describe, it } from "@effect/vitest"
import * as Caller from "@satrail/core/base/Caller"
import * as Crowd from "../src/serving/Crowd.ts"

const callers = [
  "192.0.2.1",
  "192.0.2.2",
  "198.51.100.7",
  "2001:db8::1",
  "2001:db8:0:1::1",
  "2001:db8:1::1",
  "unix"
]
const callerOf = (item: number) => callers[(item * item + (item >> 3)) % callers.length] ?? ""

/** Removes one item after another, searching for the largest holder each time. */
const oneByOne = (items: ReadonlyArray<number>, count: number): ReadonlyArray<number> => {
  const left = new Set(items)
  for (let n = 0; n < count; n++) {
    let within = items
    for (let depth = 0; depth < 3; depth++) {
      const groups = new Map<string | undefined, Array<number>>()
      for (const item of within) {
        const name = Caller.networks(callerOf(item))[depth]?.name
        groups.set(name, [...(groups.get(name) ?? []), item])
      }
      const sizeOf = (group: ReadonlyArray<number>) => group.filter((item) => left.has(item)).length
      within = [...groups.values()].reduce((most, group) => (sizeOf(group) > sizeOf(most) ? group : most))
    }
    left.delete(within.find((item) => left.has(item)) ?? 0)
  }
  return items.filter((item) => !left.has(item))
}

describe("the connections closed when there are too many", () => {
  it("crowd: each is the oldest of the caller that then has the most, in the network that then has the most", () => {
    for (let size = 1; size <= 40; size++) {
      const items = Array.from({ length: size }, (_, n) => n)
      for (const count of [1, size >> 3, size >> 1, size]) {
        const found = Crowd.pick(items, callerOf, count)
        const sorted = found.toSorted((a, b) => a - b)
        assert.deepStrictEqual(sorted, oneByOne(items, count), `${count} of ${size}`)
      }
    }
  })

  it("crowd: an eighth of 65,536 connections, each from another network, is picked without a search for each", () => {
    const items = Array.from({ length: 65_536 }, (_, n) => n)
    const found = Crowd.pick(items, (n) => `10.${n >> 8}.${n & 255}.1`, 8192)
    assert.deepStrictEqual(found, items.slice(0, 8192))
  })
})
