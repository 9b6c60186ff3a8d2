import type { Fiat } from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import type { Rate } from "@satrail/core/nodes/ExchangeRates"

/** One source's price of one bitcoin. */
export interface Quote extends Rate {
  readonly currency: Fiat
}

/** The conditions for deriving a rate from quotes. */
export interface Rules {
  /** Maximum age of a quote. */
  readonly maxAgeMillis: number
  /**
   * Minimum number of agreeing quotes, which must also be more than half, because a single source may be
   * wrong.
   */
  readonly minAgreeing: number
  /** Maximum deviation of an agreeing quote from the median. */
  readonly maxDeviationPercent: bigint
}

const compare = (a: Decimal.Decimal, b: Decimal.Decimal): number => {
  const difference = a.digits * 10n ** BigInt(b.scale) - b.digits * 10n ** BigInt(a.scale)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/** Returns (a + b) / 2 exactly. Halving adds one digit. */
const mean = (a: Decimal.Decimal, b: Decimal.Decimal): Decimal.Decimal =>
  Decimal.make(
    (a.digits * 10n ** BigInt(b.scale) + b.digits * 10n ** BigInt(a.scale)) * 5n,
    a.scale + b.scale + 1
  )

/** Returns the median, or the mean of the middle two prices if their number is even. */
const median = (quotes: ReadonlyArray<Quote>): Decimal.Decimal | undefined => {
  const prices = quotes.map(({ price }) => price).toSorted(compare)
  const [low, high] = [prices[Math.ceil(prices.length / 2) - 1], prices[Math.floor(prices.length / 2)]]
  return low && high && mean(low, high)
}

const isNear = ({ price }: Quote, middle: Decimal.Decimal, percent: bigint): boolean => {
  const [own, other] = [
    price.digits * 10n ** BigInt(middle.scale),
    middle.digits * 10n ** BigInt(price.scale)
  ]
  return (own > other ? own - other : other - own) * 100n <= other * percent
}

const agree = (
  quotes: ReadonlyArray<Quote>,
  { minAgreeing, maxDeviationPercent }: Rules
): Rate | undefined => {
  const middle = median(quotes)
  const near =
    middle === undefined ? [] : quotes.filter((quote) => isNear(quote, middle, maxDeviationPercent))
  const price = median(near)
  if (price === undefined || near.length < minAgreeing || near.length * 2 <= quotes.length) return undefined
  const names = [...new Set(near.flatMap(({ source = [] }) => source))].toSorted()
  const rate = { price, atMillis: Math.min(...near.map(({ atMillis }) => atMillis)) }
  return names.length === 0 ? rate : { ...rate, source: names.join(", ") }
}

/**
 * Returns the median of one currency's quotes that are recent and agree, with the time of the oldest of them.
 * For quotes of 100, 101 and 150, the median is 100.5. Undefined if too few agree. A quote older than half the maximum age
 * counts only if the newer ones don't agree. Otherwise, the rate would expire with it, before the sources are read again.
 */
export const agreed = (quotes: ReadonlyArray<Quote>, rules: Rules, nowMillis: number): Rate | undefined => {
  const within = (millis: number) => quotes.filter(({ atMillis }) => Math.abs(nowMillis - atMillis) <= millis)
  return agree(within(rules.maxAgeMillis / 2), rules) ?? agree(within(rules.maxAgeMillis), rules)
}

/** Time for which a rate limits the next one. */
const jumpMillis = 86_400_000

/**
 * Returns whether a rate is more than twice or less than half of the last one of the past day. Most sources may be wrong
 * together, for example if they use the same exchange.
 */
export const isJump = ({ price }: Rate, last: Rate | undefined, nowMillis: number): boolean => {
  if (last === undefined || Math.abs(nowMillis - last.atMillis) > jumpMillis) return false
  const twice = ({ digits, scale }: Decimal.Decimal) => Decimal.make(2n * digits, scale)
  return compare(price, twice(last.price)) > 0 || compare(last.price, twice(price)) > 0
}
