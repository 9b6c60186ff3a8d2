import { Schema } from "effect"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as Fee from "./Fee.ts"

/** Maximum fixed part of a fee in sats, and maximum variable part as a share of the amount: 100 %. */
export const maxBaseSats = 1_000_000
export const maxPartsPerMillion = 1_000_000

/** A fee rate as stored. `baseMsat` is charged for each payment, whatever its amount. */
export const Rate = Schema.Struct({
  baseMsat: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxBaseSats * 1000 })),
  partsPerMillion: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxPartsPerMillion }))
})
export interface Rate extends Schema.Schema.Type<typeof Rate> {}

/** A company's custom fees by route. The plan's rates apply to routes without a custom rate. */
export const CompanyFees = Schema.Struct({
  lightning: Schema.optionalKey(Rate),
  onChain: Schema.optionalKey(Rate),
  internal: Schema.optionalKey(Rate)
})
export interface CompanyFees extends Schema.Schema.Type<typeof CompanyFees> {}

/** Returns the company's custom rate, or `otherwise` if it has none. */
export const rateOf = (own: Rate | undefined, otherwise: Fee.FeeRate): Fee.FeeRate =>
  own === undefined
    ? otherwise
    : { base: Msat.make(BigInt(own.baseMsat)), partsPerMillion: BigInt(own.partsPerMillion) }
