import { Schema } from "effect"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as Fee from "./Fee.ts"

/** The most that a fee's fixed part can be, in sats, and its share of the amount: all of it. */
export const maxBaseSats = 1_000_000
export const maxPartsPerMillion = 1_000_000

/** A rate as it is kept. `baseMsat` is what each costs, whatever its amount. */
export const Rate = Schema.Struct({
  baseMsat: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxBaseSats * 1000 })),
  partsPerMillion: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxPartsPerMillion }))
})
export interface Rate extends Schema.Schema.Type<typeof Rate> {}

/** What one company pays for each way out, in place of what its plan says. What is absent is as in the plan. */
export const CompanyFees = Schema.Struct({
  lightning: Schema.optionalKey(Rate),
  onChain: Schema.optionalKey(Rate),
  internal: Schema.optionalKey(Rate)
})
export interface CompanyFees extends Schema.Schema.Type<typeof CompanyFees> {}

/** By a company's own rate where it has one. */
export const rateOf = (own: Rate | undefined, otherwise: Fee.FeeRate): Fee.FeeRate =>
  own === undefined ? otherwise : { base: Msat.make(BigInt(own.baseMsat)), partsPerMillion: BigInt(own.partsPerMillion) }
