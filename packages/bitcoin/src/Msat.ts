import { Brand, Schema } from "effect"

/** An amount in millisatoshis: 1 sat is 1000 msat. Sats, decimals and currencies exist at the edges only. */
export const Msat = Schema.BigInt.pipe(Schema.brand("Msat"))
export type Msat = typeof Msat.Type

/** As decimal text, which is how amounts stand in JSON and in a database's answers. */
export const FromString = Schema.BigIntFromString.pipe(Schema.decodeTo(Msat))

/** Names a bigint as an amount. Arithmetic loses the brand, so every sum says again what it is. */
export const make = Brand.nominal<Msat>()

export const zero: Msat = make(0n)

/** 21 sats are 21 000 msat. */
export const fromSats = (sats: bigint | number): Msat => make(BigInt(sats) * 1000n)

/** Every coin there can ever be, 21 million bitcoin: no honest amount is larger. */
export const max: Msat = fromSats(21_000_000n * 100_000_000n)

/** Rounds down, as every balance shown to a customer does: 1 999 msat are 1 sat. */
export const toSats = (amount: Msat): bigint => amount / 1000n

/** Rounds up: 1 001 msat are 2 sats. */
export const toSatsCeiling = (amount: Msat): bigint => (amount + 999n) / 1000n

/** Satoshis to the thousandth, as people and logs read them: 1 001 msat are 1.001. Exact up to the supply; not to be computed with. */
export const toDecimalSats = (amount: Msat): number => Number(amount) / 1000

/** The largest of some, at least one. */
export const greatest = (first: Msat, ...others: ReadonlyArray<Msat>): Msat =>
  others.reduce<Msat>((greatest, one) => (one > greatest ? one : greatest), first)

/** The sum of any number of amounts. */
export const sum = (...amounts: ReadonlyArray<Msat>): Msat => make(amounts.reduce<bigint>((total, one) => total + one, 0n))
