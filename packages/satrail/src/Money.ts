import * as Msat from "@satrail/bitcoin/Msat"
import { type Currency, due } from "@satrail/client/Amounts"
import { type Amount, type Money, nameOf, type Sats, withJson } from "@satrail/client/Plain"
import * as Amounts from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import { Result } from "effect"

export type { Amount, Currency, Money, Sats }

/** An amount in the core's format. */
export interface Asked {
  readonly amount: Decimal.Decimal
  readonly currency: Currency
}

/** Amounts of the core that the HTTP API does not have, and that are required or due. */
const ownDue = [
  "total",
  "service",
  "network",
  "networkFee",
  "networkAllowance",
  "least",
  "minSendable"
] as const

/** The amounts that are required or due, and so rounded up. Those of the HTTP API are declared in its schemas. */
const isDue: ReadonlySet<string> = new Set([
  ...due.flatMap((name) => [name, nameOf(`${name}_sats`, {})]),
  ...ownDue
])

/** Builds an amount of bitcoin for the field `name` of a response. */
export const money = (msat: bigint, name = ""): Money => {
  const amount = Msat.make(msat)
  return withJson({ msat, sats: isDue.has(name) ? Msat.toSatsCeiling(amount) : Msat.toSats(amount) })
}

/** Returns whether a value is money in a response's format. */
export const isMoney = (value: unknown): value is Money =>
  typeof value === "object" && value !== null && "msat" in value && typeof value.msat === "bigint"

const invalid = (message: string) =>
  Result.fail(new Amounts.AmountInvalid({ reason: "not_positive", message }))

const decimal = (value: number | bigint | string) =>
  Result.mapError(
    Decimal.parse(String(value)),
    ({ message }) => new Amounts.AmountInvalid({ reason: "not_positive", message: `amount ${message}` })
  )

const inCurrency = (
  value: number | bigint | string,
  name: string
): Result.Result<Asked, Amounts.AmountInvalid> =>
  Result.flatMap(Amounts.parseCurrency(name), (currency) =>
    Result.map(decimal(value), (amount) => ({ amount, currency }))
  )

/** Reads an amount. A number without a currency is in satoshis. */
export const asked = (given: unknown): Result.Result<Asked, Amounts.AmountInvalid> => {
  if (isMoney(given)) return Result.succeed({ amount: Decimal.make(given.msat, 3), currency: "sats" })
  if (typeof given === "number" || typeof given === "bigint") return inCurrency(given, "sats")
  if (typeof given === "string") {
    const [, value, name] = /^\s*(\S+)\s+([A-Za-z]+)\s*$/.exec(given) ?? []
    return value === undefined || name === undefined
      ? invalid('amount must be a number of sats, or a string with a currency such as "1.50 eur"')
      : inCurrency(value, name)
  }
  if (typeof given === "object" && given !== null && "amount" in given && "currency" in given) {
    const { amount, currency } = given
    const isValue = typeof amount === "number" || typeof amount === "bigint" || typeof amount === "string"
    if (isValue && typeof currency === "string") return inCurrency(amount, currency)
  }
  return invalid('amount must be a number of sats, a string such as "1.50 eur", or { amount, currency }')
}

/** Reads an amount of bitcoin. Unlike a payment's amount, a limit may be 0. */
export const msat = (given: unknown): Result.Result<Msat.Msat, Amounts.AmountInvalid> => {
  if (isMoney(given)) return Result.succeed(Msat.make(given.msat))
  if (given === 0 || given === 0n) return Result.succeed(Msat.zero)
  return Result.flatMap(asked(given), ({ amount, currency }) =>
    Amounts.isFiat(currency)
      ? invalid("this amount must be in sats or btc")
      : Amounts.toMsat(amount, currency)
  )
}
