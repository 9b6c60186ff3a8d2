import * as Msat from "@satrail/bitcoin/Msat"
import { Context, Effect, Layer } from "effect"
import { ChainSource, type ChainUnavailable } from "../nodes/ChainSource.ts"
import * as Fee from "../policy/Fee.ts"
import { Policy } from "../policy/Policy.ts"
import type { Company } from "./Company.ts"

/** What is asked for: whose money goes out, by which way (`internal`: to a company of ours), and how much arrives. */
export interface Ask {
  readonly company: Pick<Company, "plan">
  readonly way: "lightning" | "on_chain" | "internal"
  readonly amount: Msat.Msat
}

/** What companies are charged for sending. */
export class Fees extends Context.Service<
  Fees,
  {
    /** The fee on top of `amount`, as it is now: what is confirmed with it keeps it. Only of the chain can it be unknown, while that does not say its fee rate. */
    readonly quote: (ask: Ask) => Effect.Effect<Fee.Fee, ChainUnavailable>
  }
>()("@satrail/core/accounts/Fees") {}

export const make = Effect.gen(function* () {
  const { fees, routingAllowance, payoutVbytes } = yield* Policy
  const { feeRate } = yield* ChainSource

  return Fees.of({
    quote: Effect.fnUntraced(function* ({ company, way, amount }) {
      const rates = fees[company.plan]
      switch (way) {
        case "internal":
          return { service: Fee.at(rates.internal, amount), network: Msat.zero }
        case "on_chain":
          return { service: Fee.at(rates.onChain, amount), network: Msat.fromSats((yield* feeRate) * payoutVbytes) }
        case "lightning":
          return { service: Fee.at(rates.lightning, amount), network: Fee.at(routingAllowance, amount) }
      }
    })
  })
})

export const layer = Layer.effect(Fees, make)
