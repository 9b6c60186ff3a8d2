import { Currency, isFiat } from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import { Option, Result, Schema } from "effect"
import type { Quote } from "./Quote.ts"

/** A public source of exchange rates, without a key. */
export interface Ticker {
  readonly name: string
  readonly url: string
  /**
   * Parses the source's quotes from a response whose numbers are kept as text. Undefined if the response
   * doesn't have the documented form.
   */
  readonly read: (answer: unknown, nowMillis: number) => ReadonlyArray<Quote> | undefined
}

const Text = Schema.String
const fiats = Currency.literals.filter(isFiat)

/** Prices by name. Some may be null, or have another form than the documented one. */
const Prices = Schema.Record(Text, Schema.Unknown)

/**
 * Returns the quotes among named prices. Invalid prices and other currencies are ignored. Undefined if no price has the
 * documented form: the response is an error.
 */
const quotes = <A>(
  prices: Readonly<Record<string, unknown>>,
  schema: Schema.Codec<A, unknown>,
  textOf: (price: A) => string,
  atMillis: number
): ReadonlyArray<Quote> | undefined => {
  const decode = Schema.decodeUnknownOption(schema)
  const found = Object.entries(prices).flatMap(([name, price]) =>
    Option.toArray(Option.map(decode(price), (price) => [name.toLowerCase(), textOf(price)] as const))
  )
  if (found.length === 0 && Object.keys(prices).length > 0) return undefined
  return found.flatMap(([name, text]) => {
    const currency = fiats.find((one) => one === name)
    const price = Result.getOrUndefined(Decimal.parse(text))
    return currency === undefined || price === undefined || price.digits <= 0n
      ? []
      : [{ currency, price, atMillis }]
  })
}

const same = (text: string) => text

const reading =
  <A>(
    schema: Schema.Codec<A, unknown>,
    of: (answer: A, nowMillis: number) => ReadonlyArray<Quote> | undefined
  ): Ticker["read"] =>
  (answer, nowMillis) => {
    const decoded = Schema.decodeUnknownOption(schema)(answer)
    return decoded._tag === "None" ? undefined : of(decoded.value, nowMillis)
  }

/**
 * The last trade of each pair. Its price and volume are in `c`. A pair is named XXBTZUSD or XBTCHF, depending
 * on the age of its currency. https://docs.kraken.com/api/docs/rest-api/get-ticker-information
 */
export const kraken: Ticker = {
  name: "Kraken",
  url: "https://api.kraken.com/0/public/Ticker?pair=XBTUSD,XBTEUR,XBTGBP,XBTJPY,XBTCAD,XBTAUD,XBTCHF",
  read: reading(Schema.Struct({ result: Prices }), ({ result }, nowMillis) =>
    quotes(
      Object.fromEntries(
        Object.entries(result).map(([pair, price]) => [pair.replace(/^(?:XXBTZ|XBT)/, ""), price])
      ),
      Schema.Struct({ c: Schema.TupleWithRest(Schema.Tuple([Text]), [Text]) }),
      ({ c }) => c[0],
      nowMillis
    )
  )
}

/** All currencies in one response. https://docs.cdp.coinbase.com/coinbase-app/track-apis/exchange-rates */
export const coinbase: Ticker = {
  name: "Coinbase",
  url: "https://api.coinbase.com/v2/exchange-rates?currency=BTC",
  read: reading(
    Schema.Struct({
      data: Schema.Struct({ currency: Schema.Literal("BTC"), rates: Prices })
    }),
    ({ data }, nowMillis) => quotes(data.rates, Text, same, nowMillis)
  )
}

/**
 * The last price of each currency, updated every minute.
 * https://www.blockchain.com/explorer/api/exchange_rates_api
 */
export const blockchain: Ticker = {
  name: "Blockchain.com",
  url: "https://blockchain.info/ticker",
  read: reading(Prices, (answer, nowMillis) =>
    quotes(answer, Schema.Struct({ last: Text }), ({ last }) => last, nowMillis)
  )
}

/**
 * A mean over exchanges. This is the only source that reports the time of its prices, in seconds since 1970. A
 * time in the future is replaced by the current time. https://docs.coingecko.com/v3.0.1/reference/simple-price
 */
export const coingecko: Ticker = {
  name: "CoinGecko",
  url: `https://api.coingecko.com/api/v3/simple/price?ids=bitcoin&vs_currencies=${fiats.join(",")}&include_last_updated_at=true&precision=full`,
  read: reading(Schema.Struct({ bitcoin: Prices }), ({ bitcoin }, nowMillis) => {
    const seconds = bitcoin["last_updated_at"]
    return typeof seconds === "string" && /^\d{1,12}$/.test(seconds)
      ? quotes(bitcoin, Text, same, Math.min(nowMillis, Number(seconds) * 1000))
      : []
  })
}

/** At least three of them quote every currency. */
export const all: ReadonlyArray<Ticker> = [kraken, coinbase, blockchain, coingecko]
