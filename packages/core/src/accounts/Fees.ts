import * as Msat from "@satrail/bitcoin/Msat"
import { Context, Effect, Layer, Schema } from "effect"
import { ChainSource, type ChainUnavailable } from "../nodes/ChainSource.ts"
import { LightningSender } from "../nodes/LightningSender.ts"
import type { Company } from "./Company.ts"
import * as CompanyFees from "./CompanyFees.ts"
import * as Fee from "./Fee.ts"
import type { Plan } from "./Plan.ts"

/** What is asked for: whose money goes out, by which way (`internal`: to a company of ours), and how much arrives. */
export interface Ask {
  readonly company: Pick<Company, "plan"> & Partial<Pick<Company, "fees">>
  readonly way: "lightning" | "on_chain" | "internal"
  readonly amount: Msat.Msat
}

/** The fee is not what the company was shown: more than it accepts, or it was changed again and again while it asked. Nothing was held. */
export class FeeChanged extends Schema.TaggedError<FeeChanged>()("FeeChanged", {
  /** The whole fee as it is now, where it was more than was accepted. */
  fee: Schema.optionalKey(Msat.Msat)
}) {}

/** The service fee of each way out. */
export interface Rates {
  readonly lightning: Fee.FeeRate
  readonly onChain: Fee.FeeRate
  readonly internal: Fee.FeeRate
}

export class Options extends Context.Service<
  Options,
  {
    readonly fees: Readonly<Record<Plan, Rates>>
    /** The most that routing a Lightning payment may cost: held with the fee, and the node's limit. Of a node with a tariff, that is it. */
    readonly routingAllowance: Fee.FeeRate
    /** The virtual size that an on-chain payout is priced at, in bytes: two inputs, two outputs, and some room. */
    readonly payoutVbytes: number
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
  },
  routingAllowance: { base: Msat.fromSats(5), partsPerMillion: 5_000n },
  payoutVbytes: 250
}

/** What a company's fees follow, its own rates before its plan's: the service fee of each way out, and what is held for the route. Of the chain that is what its fee rate says when it is asked. */
export interface Terms extends Rates {
  readonly routingAllowance: Fee.FeeRate
}

/** What companies are charged for sending. */
export class Fees extends Context.Service<
  Fees,
  {
    /** The fee on top of `amount`, as it is now: what is confirmed with it keeps it. Only of the chain can it be unknown, while that does not say its fee rate. */
    readonly quote: (ask: Ask) => Effect.Effect<Fee.Fee, ChainUnavailable>
    /** What `quote` goes by for this company. */
    readonly terms: (company: Ask["company"]) => Terms
  }
>()("@satrail/core/accounts/Fees") {}

export const make = Effect.gen(function* () {
  const { fees, payoutVbytes, ...options } = yield* Options
  const { feeRate } = yield* ChainSource
  const { tariff } = yield* LightningSender
  const routingAllowance = tariff ?? options.routingAllowance

  const terms = ({ plan, fees: own }: Ask["company"]): Terms => ({
    lightning: CompanyFees.rateOf(own?.lightning, fees[plan].lightning),
    onChain: CompanyFees.rateOf(own?.onChain, fees[plan].onChain),
    internal: CompanyFees.rateOf(own?.internal, fees[plan].internal),
    routingAllowance
  })

  return Fees.of({
    terms,
    quote: Effect.fnUntraced(function* ({ company, way, amount }) {
      const rates = terms(company)
      switch (way) {
        case "internal":
          return { service: Fee.at(rates.internal, amount), network: Msat.zero }
        case "on_chain":
          return { service: Fee.at(rates.onChain, amount), network: Msat.fromSats((yield* feeRate) * payoutVbytes) }
        case "lightning":
          return { service: Fee.at(rates.lightning, amount), network: Fee.at(rates.routingAllowance, amount) }
      }
    })
  })
})

export const layer = Layer.effect(Fees, make)
