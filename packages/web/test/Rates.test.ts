import { assert, describe, it } from "@effect/vitest"
import * as ExchangeRatesContract from "@satrail/contracts/nodes/ExchangeRates"
import { Currency, type Fiat, isFiat } from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import { ExchangeRates, type RateUnavailable } from "@satrail/core/nodes/ExchangeRates"
import * as Prices from "@satrail/core/nodes/Prices"
import { failureFor } from "@satrail/http/wire/Errors"
import * as Memory from "@satrail/service/memory/Memory"
import { Effect, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import * as Outbound from "../src/Outbound.ts"
import * as Rates from "../src/Rates.ts"
import * as Tickers from "../src/Tickers.ts"
import { serve } from "./Server.ts"

/** The value of one dollar in each currency. */
const rest: Readonly<Record<Fiat, number>> = {
  usd: 1,
  eur: 0.92,
  gbp: 0.79,
  jpy: 150,
  cny: 7.2,
  cad: 1.37,
  aud: 1.53,
  chf: 0.88,
  hkd: 7.8,
  nzd: 1.66
}
const inAll = (usd: number) =>
  // The keys of `rest` are the currencies
  Object.fromEntries(
    Object.entries(rest).map(([currency, each]) => [currency, (usd * each).toFixed(2)])
  ) as Record<Fiat, string>

/**
 * Each ticker's response, in the ticker's documented format, for a price in dollars. Numbers are inserted
 * unchanged.
 */
const answers = {
  "api.kraken.com": (usd: number) => {
    const pairs = {
      usd: "XXBTZUSD",
      eur: "XXBTZEUR",
      gbp: "XXBTZGBP",
      jpy: "XXBTZJPY",
      cad: "XXBTZCAD",
      aud: "XBTAUD",
      chf: "XBTCHF"
    }
    const prices = inAll(usd)
    const result = Object.entries(pairs).map(([currency, pair]) => {
      // The keys of `pairs` are currencies
      const price = prices[currency as Fiat]
      return `"${pair}":{"a":["${price}","2","2.000"],"b":["${price}","1","1.000"],"c":["${price}","0.01026127"],"v":["1.2","3.4"],"p":["1","1"],"t":[1,2],"l":["1","1"],"h":["1","1"],"o":"1"}`
    })
    return `{"error":[],"result":{${result.join(",")}}}`
  },
  "api.coinbase.com": (usd: number) => {
    const rates = Object.entries(inAll(usd)).map(
      ([currency, price]) => `"${currency.toUpperCase()}":"${price}"`
    )
    return `{"data":{"currency":"BTC","rates":{"AED":"3.67","00":"1",${rates.join(",")}}}}`
  },
  "blockchain.info": (usd: number) => {
    const rows = Object.entries(inAll(usd)).map(
      ([currency, price]) =>
        `"${currency.toUpperCase()}":{"15m":${price},"last":${price},"buy":${price},"sell":${price},"symbol":"$"}`
    )
    return `{"ARS":{"15m":1.5,"last":1.5,"buy":1.5,"sell":1.5,"symbol":"$"},${rows.join(",")}}`
  },
  "api.coingecko.com": (usd: number, seconds: number) =>
    `{"bitcoin":{${Object.entries(inAll(usd))
      .map(([currency, price]) => `"${currency}":${price}`)
      .join(",")},"last_updated_at":${seconds}}}`
} as const
type Host = keyof typeof answers

/**
 * Serves all four tickers, under their own host names, from one local server. A ticker whose price is undefined
 * does not respond.
 */
const market = Effect.fnUntraced(function* () {
  const prices: Record<string, number | string | undefined> = {}
  const asked: Array<string> = []
  let seconds = 0
  const server = yield* serve((request, response) => {
    const host = request.headers.host ?? ""
    asked.push(`https://${host}${request.url}`)
    const price = prices[host]
    if (price === undefined) return request.socket.destroy()
    // Only requests for these hosts are routed here
    return response.end(typeof price === "string" ? price : answers[host as Host](price, seconds))
  })
  const allow = new Map(
    Object.keys(answers).map((host) => [host, new URL(`http://127.0.0.1:${server.port}`)])
  )
  const outbound = Layer.succeed(Outbound.Outbound, Outbound.make({ allow }))
  const say = (usd: Partial<Record<Host, number | string | undefined>>) =>
    Effect.sync(() => Object.assign(prices, usd))
  const tick = (at: number) =>
    Effect.sync(() => {
      seconds = at
    })
  return { asked, outbound, say, tick }
})

const everywhere = (usd: number | undefined): Record<Host, number | undefined> => ({
  "api.kraken.com": usd,
  "api.coinbase.com": usd,
  "blockchain.info": usd,
  "api.coingecko.com": usd
})

/** Tickers on a local server, a store, and a process that polls the tickers on request. */
const trading = Effect.fnUntraced(function* (options: Rates.Options = {}) {
  const all = yield* market()
  const store = yield* Layer.build(Memory.layer)
  const process = Effect.gen(function* () {
    const { rates, refresh } = yield* Effect.provide(Rates.make(options), all.outbound)
    const prices = yield* Effect.provideService(Prices.make, ExchangeRates, rates)
    const usd = Effect.map(prices.price({ amount: Decimal.make(100n), currency: "usd" }), ({ rate }) => rate)
    return { rates, prices, usd, refresh }
  }).pipe(Effect.provideContext(store))
  return { ...all, process }
})

const unavailable = <A, R>(
  effect: Effect.Effect<A, RateUnavailable | { readonly _tag: "AmountInvalid" }, R>
) =>
  Effect.map(Effect.flip(effect), (error) =>
    error._tag === "RateUnavailable" ? failureFor(error).status : error._tag
  )

describe("Rates", () => {
  it.effect("exchange rates: every currency's rate is the exact median of the documented responses", () =>
    Effect.gen(function* () {
      const { asked, say, process } = yield* trading()
      const { rates, refresh } = yield* process
      yield* say({
        "api.kraken.com": 100_000.07,
        "api.coinbase.com": 100_000.01,
        "blockchain.info": 100_000.1,
        "api.coingecko.com": 100_000.04
      })
      yield* refresh
      assert.sameMembers(
        asked,
        Tickers.all.map(({ url }) => url)
      )
      // With four prices, the rate is the mean of the middle two. Kraken has no yuan price, so the yuan's rate
      // is the middle one of three prices.
      assert.strictEqual(Decimal.format((yield* rates.rate("usd")).price), "100000.055")
      assert.strictEqual(Decimal.format((yield* rates.rate("cny")).price), "720000.29")
      for (const currency of Currency.literals.filter(isFiat))
        assert.isTrue((yield* rates.rate(currency)).price.digits > 0n)
    })
  )

  it.effect(
    "exchange rates: there is a rate even if one source is wrong or down; if all sources are down, the last rate is used for a minute, and then requests return 503",
    () =>
      Effect.gen(function* () {
        const { say, tick, process } = yield* trading()
        const { usd, prices, refresh } = yield* process
        yield* say(everywhere(60_000))
        yield* refresh
        assert.strictEqual(yield* usd, "60000")
        for (const lie of [30_000, 90_000]) {
          yield* say({ ...everywhere(60_100), "api.coinbase.com": lie })
          yield* refresh
          assert.strictEqual(yield* usd, "60100")
        }
        yield* TestClock.adjust("10 seconds")
        yield* tick(10)
        yield* say({ ...everywhere(60_200), "blockchain.info": undefined })
        yield* refresh
        assert.strictEqual(yield* usd, "60200")
        yield* say(everywhere(undefined))
        yield* TestClock.adjust("30 seconds")
        yield* refresh
        assert.strictEqual(yield* usd, "60200")
        assert.strictEqual((yield* prices.current).length, 10)
        yield* TestClock.adjust("31 seconds")
        yield* refresh
        assert.strictEqual(yield* unavailable(usd), 503)
        assert.strictEqual(yield* unavailable(prices.current), 503)
        yield* tick(71)
        yield* say({ ...everywhere(60_000), "blockchain.info": 90_000, "api.coingecko.com": 90_000 })
        yield* refresh
        assert.strictEqual(yield* unavailable(usd), 503, "the sources are evenly split")
        yield* say(everywhere(61_000))
        yield* refresh
        assert.strictEqual(yield* usd, "61000")
      })
  )

  it.effect(
    "exchange rates: a response with an unexpected shape counts as an outage, and an invalid price is ignored",
    () =>
      Effect.gen(function* () {
        const { say, process } = yield* trading()
        const { usd, refresh } = yield* process
        for (const nonsense of [
          "",
          "[]",
          "{}",
          "<html>",
          '{"error":["EGeneral:Too many requests"]}',
          '{"data":{"currency":"ETH","rates":{"USD":"3"}}}'
        ]) {
          yield* say({ ...everywhere(60_000), "api.coinbase.com": nonsense, "api.kraken.com": nonsense })
          yield* refresh
          assert.strictEqual(yield* usd, "60000")
        }
        for (const price of ["0", "-1", "1e400", "NaN", "60000,5"]) {
          const read = Tickers.coinbase.read({ data: { currency: "BTC", rates: { USD: price } } }, 0)
          assert.deepStrictEqual(read, [], price)
        }
      })
  )

  it.effect("exchange rates: a price that its source marks as stale is ignored", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("10 minutes")
      const { say, tick, process } = yield* trading()
      const { rates, refresh } = yield* process
      yield* say(everywhere(60_000))
      yield* say({ "api.coingecko.com": 61_000 })
      yield* tick(600 - 30)
      yield* refresh
      assert.strictEqual(
        (yield* rates.rate("usd")).atMillis,
        570_000,
        "as old as the oldest price that counts"
      )
      yield* tick(600 - 61)
      yield* refresh
      assert.strictEqual((yield* rates.rate("usd")).atMillis, 600_000)
    })
  )

  it.effect(
    "exchange rates: a price that its source updates only once a minute does not end the rate between two refreshes",
    () =>
      Effect.gen(function* () {
        yield* TestClock.adjust("10 minutes")
        const { say, tick, process } = yield* trading()
        const { usd, refresh } = yield* process
        yield* say(everywhere(60_000))
        for (const age of [0, 15, 30, 45, 60, 75]) {
          yield* tick(600)
          yield* refresh
          yield* TestClock.adjust(Rates.refreshMillis - 1)
          assert.strictEqual(yield* usd, "60000", `with a price ${age} seconds old`)
          yield* TestClock.adjust(1)
        }
      })
  )

  it.effect("exchange rates: a new process uses the last good rates until they are too old", () =>
    Effect.gen(function* () {
      const { say, process } = yield* trading()
      const first = yield* process
      yield* say(everywhere(60_000.5))
      yield* first.refresh
      const before = yield* first.rates.rate("chf")
      yield* say(everywhere(undefined))
      const second = yield* process
      assert.deepStrictEqual(yield* second.rates.rate("chf"), before)
      assert.strictEqual(yield* second.usd, "60000.5")
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual(yield* unavailable(second.usd), 503)
    })
  )

  it.effect(
    "exchange rates: after the clock was set back, rates from before are not used until the clock reaches them again",
    () =>
      Effect.gen(function* () {
        const { say, process } = yield* trading()
        const { usd, refresh } = yield* process
        yield* TestClock.setTime(7_200_000)
        yield* say(everywhere(60_000))
        yield* refresh
        assert.strictEqual(yield* usd, "60000")
        yield* TestClock.setTime(3_600_000)
        yield* say(everywhere(undefined))
        for (let n = 0; n < 2; n++) {
          assert.strictEqual(yield* unavailable(usd), 503)
          yield* refresh
        }
        yield* say(everywhere(50_000))
        yield* refresh
        assert.strictEqual(yield* usd, "50000")
      })
  )

  it.effect(
    "exchange rates: if most sources agree on a price more than twice or less than half the last one of the past day, requests return 503",
    () =>
      Effect.gen(function* () {
        const { say, process } = yield* trading()
        const first = yield* process
        yield* say(everywhere(60_000))
        yield* first.refresh
        for (const [wrong, isUsed] of [
          [600_000, false],
          [120_001, false],
          [29_999, false],
          [6000, false],
          [120_000, true],
          [60_000, true]
        ] as const) {
          yield* say({ ...everywhere(wrong), "api.kraken.com": 60_000 })
          // A new process knows the last price, too.
          for (const { refresh, usd } of [first, yield* process]) {
            yield* TestClock.adjust("61 seconds")
            yield* refresh
            if (isUsed) assert.strictEqual(yield* usd, String(wrong))
            else assert.strictEqual(yield* unavailable(usd), 503, String(wrong))
          }
        }
        yield* first.refresh
        yield* say(everywhere(600_000))
        yield* TestClock.adjust("1 day")
        yield* first.refresh
        assert.strictEqual(yield* unavailable(first.usd), 503)
        yield* TestClock.adjust("1 second")
        yield* first.refresh
        assert.strictEqual(yield* first.usd, "600000")
      })
  )

  it.effect("exchange rates: there are no rates before the first response", () =>
    Effect.gen(function* () {
      const { process } = yield* trading()
      const { usd, prices } = yield* process
      assert.strictEqual(yield* unavailable(usd), 503)
      assert.strictEqual(yield* unavailable(prices.current), 503)
    })
  )
})

describe("rates and exactness", () => {
  it("exchange rates: no number in a response is converted to floating point", () => {
    const text = '{"bitcoin":{"usd":67187.33589365660000000000001,"last_updated_at":1}}'
    const read = Tickers.coingecko.read(JSON.parse(text.replaceAll(/:([\d.]+)/g, ':"$1"')), 5000)
    assert.deepStrictEqual(read, [
      {
        currency: "usd",
        price: Result.getOrThrow(Decimal.parse("67187.33589365660000000000001")),
        atMillis: 1000
      }
    ])
  })

  it("exchange rates: a source that has no price in one currency still has its other prices", () => {
    const price = { c: ["60000", "1"] }
    const read = [
      Tickers.kraken.read({ result: { XXBTZEUR: null, XXBTZUSD: price } }, 0),
      Tickers.coinbase.read({ data: { currency: "BTC", rates: { EUR: null, USD: "60000" } } }, 0),
      Tickers.blockchain.read({ EUR: { last: null }, USD: { last: "60000" } }, 0),
      Tickers.coingecko.read({ bitcoin: { eur: null, usd: "60000", last_updated_at: "0" } }, 0)
    ]
    for (const quotes of read)
      assert.deepStrictEqual(quotes, [{ currency: "usd", price: Decimal.make(60_000n), atMillis: 0 }])
    assert.isUndefined(Tickers.blockchain.read({ error: ["too many requests"] }, 0))
  })

  it("exchange rates: a price whose time is not a number of seconds is ignored", () => {
    for (const last_updated_at of ["soon", "-1", "1e9"])
      assert.deepStrictEqual(
        Tickers.coingecko.read({ bitcoin: { usd: "67187", last_updated_at } }, 5000),
        [],
        last_updated_at
      )
  })

  it("exchange rates: every currency has at least three tickers", () => {
    const said = Object.values(answers).map((answer) => answer(50_000, 0))
    for (const currency of Currency.literals.filter(isFiat))
      assert.isAtLeast(said.filter((text) => new RegExp(currency, "i").test(text)).length, 3, currency)
  })
})

ExchangeRatesContract.suite(
  "tickers",
  Layer.unwrap(
    Effect.gen(function* () {
      const { outbound, say, tick } = yield* market()
      yield* tick(Math.floor(Date.now() / 1000))
      yield* say(everywhere(64_000))
      return Layer.effect(
        ExchangeRates,
        Effect.gen(function* () {
          const { rates, refresh } = yield* Rates.make()
          yield* refresh
          return rates
        })
      ).pipe(Layer.provide(outbound), Layer.provide(Memory.layer))
    })
  )
)
