import * as Msat from "@satrail/bitcoin/Msat"
import { Result, Schema } from "effect"
import { lowerAscii } from "./Characters.ts"
import { type Decimal, format } from "./Decimal.ts"

/** Currencies in which an amount can be given. */
export const Currency = Schema.Literals([
  "sats",
  "btc",
  "usd",
  "eur",
  "gbp",
  "jpy",
  "cny",
  "cad",
  "aud",
  "chf",
  "hkd",
  "nzd"
])
export type Currency = typeof Currency.Type
export type BitcoinUnit = "sats" | "btc"
export type Fiat = Exclude<Currency, BitcoinUnit>

/** The amount cannot be paid or requested. Nothing happened. */
export class AmountInvalid extends Schema.TaggedError<AmountInvalid>()("AmountInvalid", {
  reason: Schema.Literals([
    "unknown_currency",
    "not_positive",
    "fraction_of_a_sat",
    "too_many_decimals",
    "rounds_to_zero",
    "above_supply",
    "price_not_positive"
  ]),
  message: Schema.String
}) {}

/** Smallest amount that can be sent or requested. */
export const min: Msat.Msat = Msat.fromSats(1)

/** Largest amount: all coins that can ever exist. Operators set lower limits. */
export const max: Msat.Msat = Msat.max

const satsPerBtc = 100_000_000n

const refuse = (reason: AmountInvalid["reason"], message: string) =>
  Result.fail(new AmountInvalid({ reason, message }))

const notPositive = refuse("not_positive", "amount must be greater than 0")

const isCurrency = Schema.is(Currency)

/** Reads a currency in any letter case: `USD`, `usd`. */
export const parseCurrency = (text: string): Result.Result<Currency, AmountInvalid> => {
  const currency = lowerAscii(text)
  return isCurrency(currency)
    ? Result.succeed(currency)
    : refuse("unknown_currency", `currency must be one of ${Currency.literals.join(", ")}`)
}

/** Returns whether the currency is fiat, which needs a price to become an amount. */
export const isFiat = (currency: Currency): currency is Fiat => currency !== "sats" && currency !== "btc"

const knownDecimals = new Map<string, number>()

/** Returns the number of decimals of a fiat currency: 2 for usd, 0 for jpy. Cached, because a formatter is expensive. */
export const decimals = (currency: string): number => {
  const known =
    knownDecimals.get(currency) ??
    new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits ??
    2
  knownDecimals.set(currency, known)
  return known
}

/** Returns why a payer cannot be shown this amount in its currency, or undefined if they can. */
export const decimalsIssue = (amount: Decimal, currency: Currency): string | undefined => {
  if (!isFiat(currency)) return undefined
  const most = decimals(currency)
  return amount.scale > most
    ? `must have at most ${most} decimals in ${currency} (got ${format(amount)})`
    : undefined
}

const wholeSats = (sats: bigint): Result.Result<Msat.Msat, AmountInvalid> => {
  const amount = Msat.fromSats(sats)
  return amount > max
    ? refuse("above_supply", `amount must be at most ${Msat.toSats(max)} sats, the supply of bitcoin`)
    : Result.succeed(amount)
}

/** Converts exactly: 21.0 sats and 0.00000021 btc are both 21 sats. 21.5 sats are rejected, never rounded. */
export const toMsat = (
  { digits, scale }: Decimal,
  unit: BitcoinUnit
): Result.Result<Msat.Msat, AmountInvalid> => {
  if (digits <= 0n) return notPositive
  const scaled = unit === "btc" ? digits * satsPerBtc : digits
  const divisor = 10n ** BigInt(scale)
  if (scaled % divisor !== 0n) {
    return refuse(
      "fraction_of_a_sat",
      unit === "btc"
        ? "amount must be a whole number of sats: btc has at most 8 decimals"
        : "amount must be a whole number of sats"
    )
  }
  return wholeSats(scaled / divisor)
}

/**
 * Converts fiat to whole sats, rounding half up. `price` is the fiat price of 1 BTC: 1 usd at 64 000 is
 * 1562.5, so 1563 sats.
 */
export const fiatToMsat = (amount: Decimal, price: Decimal): Result.Result<Msat.Msat, AmountInvalid> => {
  if (amount.digits <= 0n) return notPositive
  if (price.digits <= 0n) return refuse("price_not_positive", "The exchange rate must be greater than 0")
  const dividend = amount.digits * satsPerBtc * 10n ** BigInt(price.scale)
  const divisor = price.digits * 10n ** BigInt(amount.scale)
  const sats = (2n * dividend + divisor) / (2n * divisor)
  return sats === 0n
    ? refuse("rounds_to_zero", "amount must be at least half a satoshi at the current rate")
    : wholeSats(sats)
}

/**
 * Checks an amount before a price is known. An amount in fiat must be positive and have no more decimals
 * than its currency; the price decides the rest.
 */
export const check = (
  amount: Decimal,
  currency: Currency | undefined
): Result.Result<Decimal, AmountInvalid> => {
  if (currency !== undefined && !isFiat(currency)) return Result.map(toMsat(amount, currency), () => amount)
  if (amount.digits <= 0n) return notPositive
  const issue = currency === undefined ? undefined : decimalsIssue(amount, currency)
  return issue === undefined ? Result.succeed(amount) : refuse("too_many_decimals", `amount ${issue}`)
}
