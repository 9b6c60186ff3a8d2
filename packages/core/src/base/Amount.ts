import * as Msat from "@satrail/bitcoin/Msat"
import { Result, Schema } from "effect"
import type { Decimal } from "./Decimal.ts"

/** What an amount may be given in. */
export const Currency = Schema.Literals(["sats", "btc", "usd", "eur", "gbp", "jpy", "cny", "cad", "aud", "chf", "hkd", "nzd"])
export type Currency = typeof Currency.Type
export type BitcoinUnit = "sats" | "btc"
export type Fiat = Exclude<Currency, BitcoinUnit>

/** The amount cannot be paid or asked for. Nothing happened. */
export class AmountInvalid extends Schema.TaggedError<AmountInvalid>()("AmountInvalid", {
  reason: Schema.Literals([
    "unknown_currency",
    "not_positive",
    "fraction_of_a_sat",
    "rounds_to_zero",
    "above_supply",
    "price_not_positive"
  ]),
  message: Schema.String
}) {}

/** The smallest amount anyone may send or ask for. */
export const min: Msat.Msat = Msat.fromSats(1)

/** The largest: every coin there can ever be. Operators set lower ceilings. */
export const max: Msat.Msat = Msat.max

const satsPerBtc = 100_000_000n

const refuse = (reason: AmountInvalid["reason"], message: string) => Result.fail(new AmountInvalid({ reason, message }))

const notPositive = refuse("not_positive", "The amount must be more than 0")

const isCurrency = Schema.is(Currency)

/** Reads a currency in any letter case: `USD`, `usd`. */
export const parseCurrency = (text: string): Result.Result<Currency, AmountInvalid> => {
  const currency = text.toLowerCase()
  return isCurrency(currency)
    ? Result.succeed(currency)
    : refuse("unknown_currency", `The currency must be one of ${Currency.literals.join(", ")}`)
}

/** Fiat needs a price before it is an amount. */
export const isFiat = (currency: Currency): currency is Fiat => currency !== "sats" && currency !== "btc"

const wholeSats = (sats: bigint): Result.Result<Msat.Msat, AmountInvalid> => {
  const amount = Msat.fromSats(sats)
  return amount > max
    ? refuse("above_supply", `The amount is more than all bitcoin there can be, ${Msat.toSats(max)} sats`)
    : Result.succeed(amount)
}

/** Exact: 21.0 sats and 0.00000021 btc are both 21 sats. 21.5 sats are refused, never rounded. */
export const toMsat = ({ digits, scale }: Decimal, unit: BitcoinUnit): Result.Result<Msat.Msat, AmountInvalid> => {
  if (digits <= 0n) return notPositive
  const scaled = unit === "btc" ? digits * satsPerBtc : digits
  const divisor = 10n ** BigInt(scale)
  if (scaled % divisor !== 0n) {
    return refuse(
      "fraction_of_a_sat",
      unit === "btc" ? "The amount must be a whole number of sats: btc has at most 8 decimals" : "The amount must be a whole number of sats"
    )
  }
  return wholeSats(scaled / divisor)
}

/**
 * Converts at `price`, the units of the fiat currency that 1 BTC costs, to whole sats, nearest, half up:
 * 1 usd at 64 000 is 1562.5 and so 1563 sats.
 */
export const fiatToMsat = (amount: Decimal, price: Decimal): Result.Result<Msat.Msat, AmountInvalid> => {
  if (amount.digits <= 0n) return notPositive
  if (price.digits <= 0n) return refuse("price_not_positive", "The exchange rate is not a price")
  const dividend = amount.digits * satsPerBtc * 10n ** BigInt(price.scale)
  const divisor = price.digits * 10n ** BigInt(amount.scale)
  const sats = (2n * dividend + divisor) / (2n * divisor)
  return sats === 0n ? refuse("rounds_to_zero", "The amount is less than half a satoshi at the current rate") : wholeSats(sats)
}

/** The amount, if it is good by itself: what is left for later is what a price makes of fiat, and of a currency that is not known. */
export const check = (amount: Decimal, currency: Currency | undefined): Result.Result<Decimal, AmountInvalid> => {
  if (currency !== undefined && !isFiat(currency)) return Result.map(toMsat(amount, currency), () => amount)
  return amount.digits <= 0n ? notPositive : Result.succeed(amount)
}
