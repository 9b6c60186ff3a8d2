import * as Msat from "@satrail/bitcoin/Msat"
import { Context, Effect, Layer, Schema } from "effect"
import { ChainSource, type ChainUnavailable } from "../nodes/ChainSource.ts"
import { LightningSender } from "../nodes/LightningSender.ts"
import type { Company } from "./Company.ts"
import * as CompanyFees from "./CompanyFees.ts"
import * as Fee from "./Fee.ts"
import type { Plan } from "./Plan.ts"

/**
 * A fee request: the paying company, the route (`internal`: to another company of this service), and the amount
 * that the payee receives.
 */
export interface Ask {
  readonly company: Pick<Company, "plan"> & Partial<Pick<Company, "fees">>
  readonly way: Way
  readonly amount: Msat.Msat
}
export type Way = "lightning" | "on_chain" | "internal"

/**
 * The fee is higher than the one the company accepted, or it changed repeatedly during the request. Nothing was
 * held.
 */
export class FeeChanged extends Schema.TaggedError<FeeChanged>()("FeeChanged", {
  /** The current total fee, if it exceeds the accepted one. */
  fee: Schema.optionalKey(Msat.Msat)
}) {}

/** Service fees by route. */
export interface Rates {
  readonly lightning: Fee.FeeRate
  readonly onChain: Fee.FeeRate
  readonly internal: Fee.FeeRate
}

export class Options extends Context.Service<
  Options,
  {
    readonly fees: Readonly<Record<Plan, Rates>>
  }
>()("@satrail/core/accounts/Fees/Options") {}

export const defaults: Options["Service"] = {
  fees: {
    free: {
      lightning: { base: Msat.zero, partsPerMillion: 5_000n },
      onChain: { base: Msat.fromSats(100), partsPerMillion: 2_000n },
      internal: Fee.free
    },
    paid: {
      lightning: { base: Msat.zero, partsPerMillion: 2_000n },
      onChain: { base: Msat.fromSats(100), partsPerMillion: 1_000n },
      internal: Fee.free
    }
  }
}

/**
 * Maximum routing fee of a Lightning payment, which is held and set as the node's limit. If a node has its own
 * tariff, that applies instead.
 */
export const routingAllowance: Fee.FeeRate = { base: Msat.fromSats(5), partsPerMillion: 5_000n }

/** Virtual size in bytes used to price on-chain payouts: two inputs, two outputs, and a margin. */
export const payoutVbytes = 250

/**
 * A company's fee terms: the service fee by route, and the routing allowance. Custom rates take precedence over
 * the plan's rates. On-chain mining fees are not included, because they depend on the current fee rate.
 */
export interface Terms extends Rates {
  readonly routingAllowance: Fee.FeeRate
}

/** Calculates the fees that companies pay to send. */
export class Fees extends Context.Service<
  Fees,
  {
    /**
     * Returns the current fee for `amount`. A withdrawal keeps the fee it was confirmed with. Fails only for
     * on-chain payments, if the fee rate is unknown.
     */
    readonly quote: (ask: Ask) => Effect.Effect<Fee.Fee, ChainUnavailable>
    /** Returns the rates from which `quote` calculates the fee of any amount. */
    readonly rates: (ask: Omit<Ask, "amount">) => Effect.Effect<Fee.Rates, ChainUnavailable>
    /** Returns the terms that `quote` uses for this company. */
    readonly terms: (company: Ask["company"]) => Terms
  }
>()("@satrail/core/accounts/Fees") {}

export const make = Effect.gen(function* () {
  const { fees } = yield* Options
  const { feeRate } = yield* ChainSource
  const { tariff } = yield* LightningSender
  const terms = ({ plan, fees: own }: Ask["company"]): Terms => ({
    lightning: CompanyFees.rateOf(own?.lightning, fees[plan].lightning),
    onChain: CompanyFees.rateOf(own?.onChain, fees[plan].onChain),
    internal: CompanyFees.rateOf(own?.internal, fees[plan].internal),
    routingAllowance: tariff ?? routingAllowance
  })

  const rates = ({ company, way }: Omit<Ask, "amount">): Effect.Effect<Fee.Rates, ChainUnavailable> => {
    const { internal, onChain, lightning, routingAllowance } = terms(company)
    switch (way) {
      case "internal":
        return Effect.succeed({ service: internal, network: Fee.free })
      case "on_chain":
        return Effect.map(feeRate, (perVbyte) => ({
          service: onChain,
          network: { base: Msat.fromSats(perVbyte * payoutVbytes), partsPerMillion: 0n }
        }))
      case "lightning":
        return Effect.succeed({ service: lightning, network: routingAllowance })
    }
  }

  return Fees.of({
    terms,
    rates,
    quote: ({ amount, ...ask }) => Effect.map(rates(ask), (found) => Fee.quote(found, amount))
  })
})

export const layer = Layer.effect(Fees, make)
