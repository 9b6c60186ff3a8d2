import { assert, describe, it } from "@effect/vitest"
import * as Caller from "../src/base/Caller.ts"
import * as Pool from "../src/base/Pool.ts"
import * as Throttle from "../src/base/Throttle.ts"

describe("A caller", () => {
  const names = (address: string) => Caller.networks(address).map(({ name, times }) => `${name} ${times}`)

  it("caller: an IPv4 address counts toward its /24 and /32, even when IPv4-mapped", () => {
    assert.deepStrictEqual(names("203.0.113.9"), ["ipv4:cb0071/24 4", "ipv4:cb007109/32 1"])
    assert.deepStrictEqual(names("::ffff:203.0.113.9"), names("203.0.113.9"))
  })

  it("caller: an IPv6 address counts toward its /48, /56 and /64, in any notation", () => {
    assert.deepStrictEqual(names("2001:db8:1:ab02::7"), [
      "ipv6:20010db80001/48 16",
      "ipv6:20010db80001ab/56 4",
      "ipv6:20010db80001ab02/64 1"
    ])
    assert.deepStrictEqual(names("2001:0DB8:0001:AB02:1:2:3:4"), names("2001:db8:1:ab02::7"))
  })

  it("caller: only this machine's own addresses are loopback", () => {
    assert.deepStrictEqual(
      ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "128.0.0.1", "::2", "", "localhost"].map(
        Caller.isLoopback
      ),
      [true, true, true, true, false, false, false, false]
    )
  })

  it("caller: text that is not an address counts as a separate caller", () => {
    assert.deepStrictEqual(names("unix"), ["unix 1"])
  })
})

describe("A pool", () => {
  const of = {}
  const held = (pool: { readonly items: () => Iterable<string> }) => [...pool.items()]

  it("pool: in a full pool, the caller with the most slots loses its oldest slot", () => {
    const pool = Pool.make<string>({ most: 4, perCaller: 4, per: {} })
    for (const [caller, item] of [
      ["198.51.100.1", "a"],
      ["203.0.113.1", "b"],
      ["203.0.113.1", "c"],
      ["203.0.113.1", "d"]
    ] as const)
      assert.deepStrictEqual(pool.take({ caller, of }, item), [])
    assert.deepStrictEqual(pool.take({ caller: "192.0.2.1", of }, "e"), ["b"])
    assert.deepStrictEqual(held(pool), ["a", "c", "d", "e"])
  })

  it("pool: slots are counted for a wide network as a whole, and the narrow network with the most slots in it loses one", () => {
    const pool = Pool.make<string>({ most: 5, perCaller: 5, per: {} })
    pool.take({ caller: "203.0.113.1", of }, "honest 1")
    pool.take({ caller: "203.0.113.1", of }, "honest 2")
    pool.take({ caller: "2001:db8:0:1::", of }, "first")
    pool.take({ caller: "2001:db8:0:2::", of }, "second")
    pool.take({ caller: "2001:db8:0:2::", of }, "third")
    assert.deepStrictEqual(pool.take({ caller: "2001:db8:0:3::", of }, "fourth"), ["second"])
  })

  it("pool: a caller gets its share, a wider network gets four times that share, and no network gets more than half of all slots", () => {
    const pool = Pool.make<string>({ most: 20, perCaller: 2, per: {} })
    const take = (caller: string, count: number) =>
      Array.from({ length: count }, (_, n) => pool.take({ caller, of }, `${caller} ${n}`)).flat().length
    assert.strictEqual(take("203.0.113.1", 3), 1)
    assert.strictEqual(take("203.0.113.2", 2) + take("203.0.113.3", 2) + take("203.0.113.4", 2), 0)
    assert.strictEqual(take("203.0.113.5", 1), 1)
    for (let n = 0; n < 10; n++) assert.strictEqual(take(`2001:db8:0:${(n * 256).toString(16)}::`, 1), 0)
    assert.strictEqual(take("2001:db8:0:ff00::", 1), 1)
  })

  it("pool: a company above its share loses its largest caller's oldest slot", () => {
    const pool = Pool.make<string, "company">({ most: 10, perCaller: 10, per: { company: 3 } })
    const take = (caller: string, company: string, item: string) =>
      pool.take({ caller, of: { company } }, item)
    take("203.0.113.1", "a", "1")
    take("198.51.100.1", "a", "2")
    take("198.51.100.2", "a", "3")
    take("198.51.100.3", "b", "4")
    assert.deepStrictEqual(take("192.0.2.1", "a", "5"), ["2"])
  })

  it("pool: if no caller has more than one slot, the company with the most slots loses its oldest slot", () => {
    const pool = Pool.make<string, "company">({ most: 3, perCaller: 3, per: { company: 3 } })
    pool.take({ caller: "192.0.2.1", of: { company: "a" } }, "1")
    pool.take({ caller: "198.51.100.1", of: { company: "b" } }, "2")
    pool.take({ caller: "203.0.113.1", of: { company: "b" } }, "3")
    assert.deepStrictEqual(pool.take({ caller: "100.64.0.1", of: { company: "c" } }, "4"), ["2"])
  })

  const crowds: Record<string, (n: number) => string> = {
    "/48s of one /32": (n) => `2001:db8:${n.toString(16)}::1`,
    "/48s of the eight /32s of one /29": (n) => `2a0a:${(n % 8).toString(16)}:${n.toString(16)}::1`,
    "/64s of one /48": (n) => `2001:db8:1:${n.toString(16)}::1`,
    "/64s of many /56s and /48s": (n) =>
      `2001:db8:${(n >> 4).toString(16)}:${(n * 64).toString(16).slice(-4)}::1`,
    "/24s of one /16": (n) => `198.18.${n % 256}.${n >> 8}`,
    "/24s of one /8": (n) => `10.${n >> 8}.${n % 256}.1`,
    "addresses of one /24": (n) => `198.51.100.${n % 256}`,
    "IPv4-mapped addresses of one /8": (n) => `::ffff:10.${n >> 8}.${n % 256}.1`
  }
  const payers = [
    "203.0.113.9",
    "203.0.113.10",
    "192.0.2.5",
    "2a02:1:1:1::1",
    "2a02:1:2:1::1",
    "2a02:1:2:2::1"
  ]

  for (const [what, callerOf] of Object.entries(crowds))
    it(`pool: strangers at ${what} evict no slot of callers elsewhere, who still get new ones`, () => {
      const pool = Pool.make<string, "company" | "address">({
        most: 10_000,
        perCaller: 120,
        per: { company: 2500, address: 1200 }
      })
      const of = { company: "shop", address: "till" }
      const mine: Array<string> = []
      const pay = (round: number) => {
        for (const caller of payers) {
          mine.push(`${caller} ${round}`)
          pool.take({ caller, of }, `${caller} ${round}`)
        }
      }
      pay(0)
      for (let n = 0; n < 6000; n++) {
        pool.take({ caller: callerOf(n % 1500), of }, `stranger ${n}`)
        if (n % 1000 === 0) pay(n + 1)
      }
      const open = new Set(pool.items())
      assert.deepStrictEqual(
        mine.filter((item) => !open.has(item)),
        []
      )
    })

  it("pool: if no /24 holds more than one slot, the company with the most slots loses its oldest one, whatever its provider holds", () => {
    const pool = Pool.make<string, "company">({ most: 4, perCaller: 4, per: { company: 4 } })
    pool.take({ caller: "10.1.1.1", of: { company: "small" } }, "1")
    for (const n of [2, 3]) pool.take({ caller: `192.0.${n}.1`, of: { company: "large" } }, String(n))
    pool.take({ caller: "10.1.4.1", of: { company: "large" } }, "4")
    assert.deepStrictEqual(pool.take({ caller: "10.1.5.1", of: { company: "other" } }, "5"), ["2"])
    pool.release("5")
    pool.take({ caller: "10.1.4.9", of: { company: "other" } }, "6")
    assert.deepStrictEqual(pool.take({ caller: "100.64.0.1", of: { company: "other" } }, "7"), ["4"])
  })

  it("pool: even after 100,000 addresses, a pool tracks no more addresses than it has slots, and a released slot can be reused", () => {
    const pool = Pool.make<number>({ most: 100, perCaller: 10, per: {} })
    for (let n = 0; n < 100_000; n++)
      pool.take({ caller: `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`, of }, n)
    assert.strictEqual([...pool.items()].length, 100)
    for (const item of pool.items()) pool.release(item)
    assert.strictEqual([...pool.items()].length, 0)
    assert.deepStrictEqual(pool.take({ caller: "203.0.113.1", of }, -1), [])
  })
})

describe("Throttling of callers", () => {
  for (const [what, callerOf] of [
    ["one /32", (n: number) => `2001:db8:${n.toString(16)}::1`],
    ["one /29", (n: number) => `2a0a:${(n % 8).toString(16)}:${n.toString(16)}::1`],
    ["one /16", (n: number) => `198.18.${n % 256}.1`]
  ] as const)
    it(`throttle: strangers from all networks of ${what} cannot use up a shared rate's reserve`, () => {
      const may = Throttle.shared(Throttle.perMinute(300))
      for (let n = 0; n < 20_000; n++) may("till", callerOf(n), n)
      for (const [n, caller] of ["203.0.113.9", "192.0.2.5", "2a02:1:1:1::1"].entries())
        assert.isTrue(may("till", caller, 20_000 + n), caller)
    })

  it("throttle: each caller is limited to a rate, and its wider networks to four and sixteen times that rate", () => {
    const take = Throttle.callers({ count: 2, everyMillis: 1000 })
    const taken = (addresses: ReadonlyArray<string>) =>
      addresses.filter((address) => take(address, 0).isWithin).length
    const one = Array.from({ length: 5 }, () => "2001:db8::1")
    assert.strictEqual(taken(one), 2)
    const sameSite = Array.from({ length: 256 }, (_, n) => `2001:db8:0:${n.toString(16)}::1`)
    assert.strictEqual(taken(sameSite), 6)
    const wide = Array.from({ length: 4096 }, (_, n) => `2001:db8:0:${(n * 16).toString(16)}::1`)
    assert.strictEqual(taken(wide), 24)
    assert.strictEqual(taken(["203.0.113.1"]), 1)
  })
  it("throttle: when a shared rate is used up, a network without requests in the last minute is still served from a bounded reserve", () => {
    const may = Throttle.shared({ count: 2, everyMillis: 60_000 })
    const ask = (caller: string, atMillis = 0) => may("shop", caller, atMillis)
    assert.deepStrictEqual(
      ["203.0.113.1", "203.0.113.1", "203.0.113.2"].map((caller) => ask(caller)),
      [true, true, false]
    )
    const others = Array.from({ length: 10 }, (_, n) => ask(`10.0.${n}.1`))
    assert.deepStrictEqual(others.filter((isServed) => isServed).length, 2 * Throttle.reserve.times)
    assert.isTrue(may("bakery", "203.0.113.1", 0))
  })
})
