import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Network from "../src/Network.ts"

const half: Network.Balances = (id) => {
  const { capacity = Msat.zero } = Network.channels.find((one) => one.id === id) ?? {}
  return { a: Msat.make(capacity / 2n), b: Msat.make(capacity - capacity / 2n) }
}
const noLimit = Msat.max
const million = Msat.fromSats(1_000_000)

describe("routes", () => {
  it("sandbox routes: every node except the sender charges its fee for the channel into which it forwards", () => {
    const [best] = Network.routes(half, Network.us, "dogwood", million, noLimit)
    // us → bazaar → dogwood: 2000 msat and 80 ppm of 1 000 000 sats.
    assert.deepStrictEqual(best?.hops, [
      { channel: "us-bazaar", from: "a", amount: Msat.make(million + 82_000n) },
      { channel: "bazaar-dogwood", from: "a", amount: million }
    ])
    assert.strictEqual(best?.fee, 82_000n)
    // The payment needs 0.01 BTC of the channel's 10 BTC.
    assert.closeTo(best?.probability ?? 0, 0.999, 1e-9)
  })

  it("sandbox routes: a node charges its fee on the amount plus later nodes' fees", () => {
    const routes = Network.routes(half, Network.us, "cedar", million, noLimit)
    const over = routes.find(
      ({ hops }) => hops.map(({ channel }) => channel).join(" ") === "us-bazaar bazaar-relay relay-cedar"
    )
    const last = 1_000n + (million * 200n) / 1_000_000n
    const middle = 1_000n + ((million + last) * 100n) / 1_000_000n
    assert.strictEqual(over?.fee, last + middle)
    assert.deepStrictEqual(
      over?.hops.map(({ amount }) => amount),
      [million + last + middle, million + last, million]
    )
  })

  it("sandbox routes: routes are returned cheapest first and never above the fee limit", () => {
    const routes = Network.routes(half, Network.us, "birch", million, noLimit)
    assert.isAbove(routes.length, 2)
    const fees = routes.map(({ fee }) => fee)
    assert.deepStrictEqual(
      fees,
      fees.toSorted((one, other) => (one < other ? -1 : 1))
    )
    for (const limit of fees) {
      for (const { fee } of Network.routes(half, Network.us, "birch", million, limit))
        assert.isTrue(fee <= limit)
    }
    const [least = Msat.zero] = fees
    assert.deepStrictEqual(Network.routes(half, Network.us, "birch", million, Msat.make(least - 1n)), [])
  })

  it("sandbox routes: routes are limited by the capacity of other channels and the balance of our own channels", () => {
    const poor: Network.Balances = (id) => (id.startsWith("us-") ? { a: Msat.zero, b: Msat.zero } : half(id))
    assert.deepStrictEqual(Network.routes(poor, Network.us, "alder", million, noLimit), [])
    const empty: Network.Balances = (id) => (id.startsWith("us-") ? half(id) : { a: Msat.zero, b: Msat.zero })
    const routes = Network.routes(empty, Network.us, "alder", million, noLimit)
    assert.isAbove(routes.length, 0)
    assert.isUndefined(Network.passable(empty, routes))
    assert.strictEqual(Network.passable(half, routes), routes[0])
  })

  it("sandbox routes: a route never passes through a node twice, and a node without channels has no route", () => {
    for (const { hops } of Network.routes(half, Network.us, "cedar", million, noLimit)) {
      const nodes = hops.flatMap(({ channel }) => channel.split("-"))
      for (const node of new Set(nodes)) assert.isAtMost(nodes.filter((one) => one === node).length, 2)
    }
    assert.deepStrictEqual(Network.routes(half, Network.us, Network.payees.cut, million, noLimit), [])
  })

  it("sandbox routes: every initial balance is within its channel's capacity", () => {
    for (const random of [0, 0.5, 0.999]) {
      for (const [id, balance] of Network.initial(() => random)) {
        assert.isTrue(balance.a > 0n && balance.b > 0n && Network.isWhole(id, balance, Msat.zero))
      }
    }
  })
})
