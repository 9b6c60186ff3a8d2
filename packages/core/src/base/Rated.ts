import { Schema } from "effect"

/** The rate of an amount that was given in fiat. All are null if it was given in bitcoin. */
export interface Rated {
  /** Fiat units per bitcoin. */
  readonly rate: string | null
  readonly rateAtMillis: number | null
  /** Also null in records older than this member, and so is `rateSource`. Neither can be derived from the rate. */
  readonly fiatCurrency: string | null
  /** The sources whose prices gave the rate, if known. */
  readonly rateSource: string | null
}

/** The members of a record whose amount can be given in fiat. */
export const members = {
  rate: Schema.NullOr(Schema.String),
  rateAtMillis: Schema.NullOr(Schema.Int),
  fiatCurrency: Schema.NullOr(Schema.String),
  rateSource: Schema.NullOr(Schema.String)
}

export const none: Rated = { rate: null, rateAtMillis: null, fiatCurrency: null, rateSource: null }

/** Returns only the rate of a record. */
export const of = ({ rate, rateAtMillis, fiatCurrency, rateSource }: Rated): Rated => ({
  rate,
  rateAtMillis,
  fiatCurrency,
  rateSource
})
