import * as Msat from "@satrail/bitcoin/Msat"
import * as CompanyFees from "@satrail/core/accounts/CompanyFees"
import type * as Fee from "@satrail/core/accounts/Fee"
import type { Terms } from "@satrail/core/accounts/Fees"
import { Effect, Schema } from "effect"
import * as Patch from "./Patch.ts"
import * as Scalars from "./Scalars.ts"

const Rate = Schema.Struct({
  base_sats: Scalars.Fee.annotate({
    description: "Fixed fee per payment, in satoshis with up to three decimals",
    examples: [100]
  }),
  parts_per_million: Schema.Int.annotate({
    description: "Fee proportional to the amount, rounded up to a millisatoshi",
    examples: [5000]
  })
}).annotate({ identifier: "FeeRate" })

export const rate = ({ base, partsPerMillion }: Fee.FeeRate): typeof Rate.Type => ({
  base_sats: Scalars.exactSats(base),
  parts_per_million: Number(partsPerMillion)
})

export const schema = Schema.Struct({
  lightning: Rate,
  on_chain: Rate,
  internal: Rate.annotate({ description: "Payments to a company of this service" }),
  routing_allowance: Rate.annotate({
    description: "Maximum routing fee of a Lightning payment, held on top of the amount"
  })
}).annotate({
  identifier: "Fees",
  description: "Fees for sending. On-chain payments also cost the current miner fee; see an estimate"
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
      description: "Fixed fee per payment, in satoshis with up to three decimals. Default: 0",
      format: Scalars.format.due
    })
  ),
  parts_per_million: Scalars.given(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: CompanyFees.maxPartsPerMillion })).annotate({
      description: "Fee proportional to the amount, rounded up to a millisatoshi. Default: 0",
      examples: [1000]
    })
  )
}).annotate({ identifier: "GivenFeeRate" })

export const Body = Schema.Struct({
  lightning: Scalars.given(Given.annotate({ description: "Lightning payments" })),
  on_chain: Scalars.given(Given.annotate({ description: "On-chain payments" })),
  internal: Scalars.given(Given.annotate({ description: "Payments to a company of this service" }))
}).annotate({ identifier: "GivenFees" })

const kept = (given: typeof Given.Type): CompanyFees.Rate => ({
  baseMsat: Number(given.base_sats ?? 0n),
  partsPerMillion: given.parts_per_million ?? 0
})

/** Returns the fees that the body sets, or null if it sets none. */
export const read = ({ lightning, on_chain, internal }: typeof Body.Type): CompanyFees.CompanyFees | null => {
  const fees: CompanyFees.CompanyFees = {
    ...(lightning && { lightning: kept(lightning) }),
    ...(on_chain && { onChain: kept(on_chain) }),
    ...(internal && { internal: kept(internal) })
  }
  return Object.keys(fees).length === 0 ? null : fees
}

const Own = Schema.Struct({
  lightning: Schema.NullOr(Rate),
  on_chain: Schema.NullOr(Rate),
  internal: Schema.NullOr(Rate)
})

/** A company's custom fees in responses. A field is null if the plan's fee applies to that type of payment. */
export const own = Own.annotate({
  identifier: "OwnFees",
  description: "Custom fee that replaces the plan's; null if the plan's applies"
})

const shown = (rate: CompanyFees.Rate | undefined): typeof Rate.Type | null =>
  rate === undefined
    ? null
    : {
        base_sats: Scalars.exactSats(Msat.make(BigInt(rate.baseMsat))),
        parts_per_million: rate.partsPerMillion
      }

export const ofOwn = (fees: CompanyFees.CompanyFees | null): typeof own.Type => ({
  lightning: shown(fees?.lightning),
  on_chain: shown(fees?.onChain),
  internal: shown(fees?.internal)
})

/** Returns a company's fees after a PATCH. An omitted rate or part of a rate stays, and null removes it. */
export const patched = (given: typeof Body.Type) =>
  Effect.fnUntraced(function* (fees: CompanyFees.CompanyFees | null) {
    const current = ofOwn(fees)
    const { lightning, on_chain, internal } = yield* Patch.filled(Body, given, current)
    const merged = (rate: typeof Given.Type | null | undefined, own: typeof Rate.Type | null) =>
      rate ? Patch.filled(Given, rate, own ?? {}) : Effect.succeed(null)
    return read({
      lightning: yield* merged(lightning, current.lightning),
      on_chain: yield* merged(on_chain, current.on_chain),
      internal: yield* merged(internal, current.internal)
    })
  })
