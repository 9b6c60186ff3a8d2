import * as Msat from "@satrail/bitcoin/Msat"
import * as CompanyFees from "@satrail/core/accounts/CompanyFees"
import type * as Fee from "@satrail/core/accounts/Fee"
import type { Terms } from "@satrail/core/accounts/Fees"
import { Effect, Schema } from "effect"
import * as Patch from "./Patch.ts"
import * as Scalars from "./Scalars.ts"

const Rate = Schema.Struct({
  base_sats: Schema.Finite.annotate({
    description: "What each costs, whatever its amount, in satoshis to three decimals",
    examples: [100]
  }),
  parts_per_million: Schema.Int.annotate({ description: "Of the amount, rounded up to a thousandth of a satoshi", examples: [5000] })
}).annotate({ identifier: "FeeRate" })

export const rate = ({ base, partsPerMillion }: Fee.FeeRate): typeof Rate.Type => ({
  base_sats: Scalars.exactSats(base),
  parts_per_million: Number(partsPerMillion)
})

/** What sending costs. */
export const schema = Schema.Struct({
  lightning: Rate,
  on_chain: Rate,
  internal: Rate.annotate({ description: "To a company of this service" }),
  routing_allowance: Rate.annotate({
    description: "What is held besides for the route of a Lightning payment: the most that it may cost"
  })
}).annotate({
  identifier: "Fees",
  description: "What sending costs. On-chain, what miners are paid now comes on top: an estimate says how much"
})

export const of = ({ lightning, onChain, internal, routingAllowance }: Terms): typeof schema.Type => ({
  lightning: rate(lightning),
  on_chain: rate(onChain),
  internal: rate(internal),
  routing_allowance: rate(routingAllowance)
})

const Given = Schema.Struct({
  base_sats: Scalars.given(
    Scalars.givenSatsUpTo(Msat.fromSats(CompanyFees.maxBaseSats)).annotate({
      description: "What each costs, whatever its amount, in satoshis to three decimals; 0 by default"
    })
  ),
  parts_per_million: Scalars.given(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: CompanyFees.maxPartsPerMillion })).annotate({
      description: "Of the amount, rounded up to a thousandth of a satoshi; 0 by default",
      examples: [1000]
    })
  )
}).annotate({ identifier: "GivenFeeRate" })

/** Fees of a company's own, as a body gives them. */
export const Body = Schema.Struct({
  lightning: Scalars.given(Given.annotate({ description: "Over Lightning" })),
  on_chain: Scalars.given(Given.annotate({ description: "On-chain" })),
  internal: Scalars.given(Given.annotate({ description: "To a company of this service" }))
}).annotate({ identifier: "GivenFees" })

const kept = (given: typeof Given.Type): CompanyFees.Rate => ({
  baseMsat: Number(given.base_sats ?? 0n),
  partsPerMillion: given.parts_per_million ?? 0
})

/** Null where a body gives none. */
export const read = ({ lightning, on_chain, internal }: typeof Body.Type): CompanyFees.CompanyFees | null => {
  const fees: CompanyFees.CompanyFees = {
    ...(lightning && { lightning: kept(lightning) }),
    ...(on_chain && { onChain: kept(on_chain) }),
    ...(internal && { internal: kept(internal) })
  }
  return Object.keys(fees).length === 0 ? null : fees
}

const Own = Schema.Struct({ lightning: Schema.NullOr(Rate), on_chain: Schema.NullOr(Rate), internal: Schema.NullOr(Rate) })

/** A company's own fees as answers show them: null for a way out that costs what the plan says. */
export const own = Own.annotate({ identifier: "OwnFees", description: "What it pays in place of what its plan says; null: as in the plan" })

const shown = (rate: CompanyFees.Rate | undefined): typeof Rate.Type | null =>
  rate === undefined ? null : { base_sats: Scalars.exactSats(Msat.make(BigInt(rate.baseMsat))), parts_per_million: rate.partsPerMillion }

export const ofOwn = (fees: CompanyFees.CompanyFees | null): typeof own.Type => ({
  lightning: shown(fees?.lightning),
  on_chain: shown(fees?.onChain),
  internal: shown(fees?.internal)
})

/** The body of a `PUT` that does what a `PATCH` asks for, of a company that has these fees: the part of a rate that is left out stays too. */
export const patched = Effect.fnUntraced(function* (given: typeof Body.Type, fees: CompanyFees.CompanyFees | null) {
  const current = ofOwn(fees)
  const { lightning, on_chain, internal } = yield* Patch.filled(Body, given, current)
  const merged = (rate: typeof Given.Type | null | undefined, own: typeof Rate.Type | null) =>
    rate ? Patch.filled(Given, rate, own ?? {}) : Effect.succeed(null)
  return {
    lightning: yield* merged(lightning, current.lightning),
    on_chain: yield* merged(on_chain, current.on_chain),
    internal: yield* merged(internal, current.internal)
  }
})
