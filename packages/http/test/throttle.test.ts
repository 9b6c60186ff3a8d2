import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Policy from "@satrail/core/service/Policy"
import { start } from "./Service.ts"
import { callbackUrl, get, lookUp, Refused } from "./Wallet.ts"

// Limits on invoices for wallets. No limit recovers before an hour has passed, so time does not matter here.

const anHour = 3600 * 1000
const service = await start({
  http: { proxies: 1 },
  settings: {
    lnurl: {
      ...Policy.defaults.lnurl,
      perAddress: { count: 8, everyMillis: anHour },
      perCaller: { count: 3, everyMillis: anHour }
    }
  }
})
afterAll(service.dispose)
const { key } = await service.company()
const offers = await Promise.all(
  Array.from({ length: 3 }, async (_, n) => lookUp(service, await service.lightningAddress(key, `alice${n}`)))
)

/** Returns how many of these callers get an invoice, one after another. */
const served = async (callers: ReadonlyArray<string>, address: number) => {
  let count = 0
  for (const caller of callers) {
    const offer = offers[address] ?? assert.fail()
    try {
      await get(service, callbackUrl(offer, 21_000), { "x-forwarded-for": caller })
      count += 1
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      assert.strictEqual(error.message, "Too many requests for invoices. Try again in a moment")
    }
  }
  return count
}
const times = (count: number, caller: string) => Array.from({ length: count }, () => caller)

describe("invoices for wallets", () => {
  it("throttle: the number of invoices for one caller is limited across all Lightning addresses", async () => {
    assert.strictEqual(
      (await served(times(2, "203.0.113.1"), 0)) + (await served(times(5, "203.0.113.1"), 1)),
      3
    )
    assert.strictEqual(await served(times(1, "203.0.113.2"), 0), 1)
  })

  it("throttle: all addresses of an IPv6 network count as one caller", async () => {
    const network = [
      "2001:db8::1",
      "2001:db8::2",
      "2001:db8:0:0:ffff::",
      "2001:DB8:0:0:1:2:3:4",
      "2001:db8:0:1::1"
    ]
    assert.strictEqual(await served(network, 1), 4)
  })

  it("throttle: the caller is the address that the service's proxy appends, not an address that the request claims", async () => {
    const spoofed = Array.from({ length: 5 }, (_, n) => `198.51.100.${n}, 203.0.113.7`)
    // A Lightning address that has not reached its own limit yet.
    assert.strictEqual(await served(spoofed, 0), 3)
  })

  it("throttle: the number of invoices of one Lightning address is limited across all callers", async () => {
    const crowd = Array.from({ length: 20 }, (_, n) => `192.0.2.${n}`)
    assert.strictEqual(await served(crowd, 2), 8)
  })
})

describe("X-Forwarded-For", () => {
  it("proxies: an ignored X-Forwarded-For header is logged once, and a header that is used is never logged", async () => {
    for (const [proxies, warnings] of [
      [0, 1],
      [1, 0]
    ] as const) {
      const one = await start({ http: { proxies } })
      const warned = () => one.logged.filter((line) => line.includes("SATRAIL_PROXIES")).length
      await one.ask("GET", "/healthz")
      assert.strictEqual(warned(), 0)
      for (let n = 0; n < 3; n++)
        await one.ask("GET", "/healthz", { headers: { "x-forwarded-for": "203.0.113.1" } })
      assert.strictEqual(warned(), warnings)
      await one.dispose()
    }
  })
})
