import { Currency, type Fiat, isFiat } from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import * as JsonText from "@satrail/core/base/JsonText"
import * as Worker from "@satrail/core/base/Worker"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { ExchangeRates, type Rate, RateUnavailable } from "@satrail/core/nodes/ExchangeRates"
import * as Prices from "@satrail/core/nodes/Prices"
import { Clock, Effect, Layer, Result, Schema } from "effect"
import { Outbound } from "./Outbound.ts"
import * as Quote from "./Quote.ts"
import * as Tickers from "./Tickers.ts"

export interface Options extends Partial<Quote.Rules> {
  readonly refreshMillis?: number
  readonly tickers?: ReadonlyArray<Tickers.Ticker>
}

/**
 * Interval at which all sources are read, which is also the maximum age of a rate while they respond. The
 * strictest source allows five requests per minute.
 */
export const refreshMillis = 15_000

export const rules: Quote.Rules = {
  maxAgeMillis: Prices.maxRateAgeMillis,
  minAgreeing: 2,
  maxDeviationPercent: 5n
}

/** The cursor under which the last good rates are stored. */
const source = "exchange rates"

const Kept = Schema.Record(
  Schema.String,
  Schema.Struct({
    price: Schema.String,
    atMillis: Schema.FiniteFromString,
    source: Schema.optionalKey(Schema.String)
  })
)

const write = (known: ReadonlyMap<Fiat, Rate>): string =>
  JSON.stringify(
    Object.fromEntries(
      Array.from(known, ([currency, { price, atMillis, ...from }]) => [
        currency,
        { ...from, price: Decimal.format(price), atMillis: String(atMillis) }
      ])
    )
  )

/** Parses the stored rates, ignoring what cannot be read. */
const read = (text: string): Map<Fiat, Rate> => {
  const kept = Schema.decodeUnknownOption(Kept)(JsonText.exact(text))
  return new Map(
    Currency.literals.filter(isFiat).flatMap((currency) => {
      const one = kept._tag === "Some" ? kept.value[currency] : undefined
      const price = one && Result.getOrUndefined(Decimal.parse(one.price))
      return one === undefined || price === undefined ? [] : [[currency, { ...one, price }] as const]
    })
  )
}

/**
 * Returns the rates, starting with the last good ones of an earlier run, and an effect that reads all sources
 * once.
 */
export const make = Effect.fnUntraced(function* (options: Options = {}) {
  const { ask } = yield* Outbound
  const journal = yield* Journal
  const records = yield* LedgerReads
  const { tickers = Tickers.all, ...own } = options
  const limits = { ...rules, ...own }

  const quotes = new Map<string, ReadonlyArray<Quote.Quote>>()
  const failing = new Set<string>()
  const jumped = new Set<Fiat>()
  const known = yield* records.cursor(source).pipe(
    Effect.map((kept) => (kept._tag === "Some" ? read(kept.value) : new Map<Fiat, Rate>())),
    Effect.catch((cause) =>
      Effect.as(
        Effect.logWarning("exchange rates: stored rates could not be read; fetching new ones", cause),
        new Map<Fiat, Rate>()
      )
    )
  )

  /**
   * Reads one source. Logs once when it fails and once when it recovers. While it fails, its last quotes are
   * used as long as they are recent enough.
   */
  const fetch = Effect.fnUntraced(function* ({ name, url, read }: Tickers.Ticker) {
    const answer = yield* Effect.result(ask({ url, headers: { accept: "application/json" } }))
    const found = Result.isSuccess(answer)
      ? read(JsonText.exact(answer.success.body), yield* Clock.currentTimeMillis)
      : undefined
    if (found !== undefined) {
      quotes.set(
        name,
        found.map((quote) => ({ ...quote, source: name }))
      )
      if (failing.delete(name)) yield* Effect.logInfo("exchange rates: source recovered", { name })
    } else if (!failing.has(name)) {
      failing.add(name)
      const why = Result.isFailure(answer)
        ? answer.failure
        : `an unexpected response with status ${answer.success.status}`
      yield* Effect.logWarning("exchange rates: source down", { name, why })
    }
  })

  const refresh = Effect.gen(function* () {
    yield* Effect.forEach(tickers, fetch, { concurrency: "unbounded", discard: true })
    const nowMillis = yield* Clock.currentTimeMillis
    const everyone = [...quotes.values()].flat()
    for (const currency of Currency.literals.filter(isFiat)) {
      const rate = Quote.agreed(
        everyone.filter((quote) => quote.currency === currency),
        limits,
        nowMillis
      )
      if (rate === undefined) continue
      const last = known.get(currency)
      if (!Quote.isJump(rate, last, nowMillis)) {
        known.set(currency, rate)
        jumped.delete(currency)
      } else if (!jumped.has(currency)) {
        jumped.add(currency)
        const [price, lastPrice] = [Decimal.format(rate.price), last && Decimal.format(last.price)]
        yield* Effect.logError(
          "exchange rates: most sources more than doubled or halved their price; not used",
          {
            currency,
            price,
            lastPrice
          }
        )
      }
    }
    if (known.size > 0) yield* Cursor.store(journal, { source, value: write(known) })
  })

  const rates = ExchangeRates.of({
    rate: (currency) =>
      Effect.suspend(() => {
        const rate = known.get(currency)
        return rate === undefined ? Effect.fail(new RateUnavailable({ currency })) : Effect.succeed(rate)
      })
  })
  return { rates, refresh }
})

/** Provides the rates on which public tickers agree. The tickers are read in the background while the scope is open. */
export const layer = (
  options: Options = {}
): Layer.Layer<ExchangeRates, never, Outbound | Journal | LedgerReads> =>
  Layer.effect(
    ExchangeRates,
    Effect.gen(function* () {
      const { rates, refresh } = yield* make(options)
      yield* Worker.runOpen("exchange rates", refresh, Effect.sleep(options.refreshMillis ?? refreshMillis))
      return rates
    })
  )
