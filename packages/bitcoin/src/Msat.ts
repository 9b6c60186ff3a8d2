import { Brand, Schema } from "effect"

/** An amount in millisatoshis: 1 sat is 1000 msat. Sats, decimals and currencies are used only in input and output. */
export const Msat = Schema.BigInt.pipe(Schema.brand("Msat"))
export type Msat = typeof Msat.Type

/** An amount as decimal text, as in JSON and in database results. */
export const FromString = Schema.BigIntFromString.pipe(Schema.decodeTo(Msat))

/** Brands a bigint as an amount. Arithmetic loses the brand, so every sum must be branded again. */
export const make = Brand.nominal<Msat>()

export const zero: Msat = make(0n)

/** 21 sats are 21 000 msat. */
export const fromSats = (sats: bigint | number): Msat => make(BigInt(sats) * 1000n)

/** The maximum supply, 21 million bitcoin. No valid amount is larger. */
export const max: Msat = fromSats(21_000_000n * 100_000_000n)

/** Rounds down, as is done for every balance shown to a customer: 1 999 msat are 1 sat. */
export const toSats = (amount: Msat): bigint => amount / 1000n

/** Rounds away from zero: 1 001 msat are 2 sats, and a fee of -1 001 msat in a posting is -2 sats. */
export const toSatsCeiling = (amount: Msat): bigint => (amount < 0n ? amount - 999n : amount + 999n) / 1000n

/**
 * Converts to satoshis with three decimals, for display and logs: 1 001 msat are 1.001. The number is exact up
 * to the total supply, but must not be used in calculations.
 */
export const toDecimalSats = (amount: Msat): number => Number(amount) / 1000

/** `1 sat`, `21000 sats`, `1.5 sats` */
export const inSats = (sats: bigint | number): string => `${sats} ${Number(sats) === 1 ? "sat" : "sats"}`

/** Returns the largest amount. At least one is required. */
export const greatest = (first: Msat, ...others: ReadonlyArray<Msat>): Msat =>
  others.reduce<Msat>((greatest, one) => (one > greatest ? one : greatest), first)

export const sum = (...amounts: ReadonlyArray<Msat>): Msat =>
  make(amounts.reduce<bigint>((total, one) => total + one, 0n))
