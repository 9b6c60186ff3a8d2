import type { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import { Effect, Option } from "effect"
import { ChainSource, type Tip } from "../nodes/ChainSource.ts"
import * as Coin from "../nodes/Coin.ts"

/**
 * The cost of spending a coin uses the lowest fee rate of the last `most` blocks, because a coin can wait to be
 * spent. Until `least` blocks have been sampled since the start, the rate is ignored, because it may be a brief
 * low.
 */
export const feeRateBlocks = { least: 6, most: 144 } as const

/**
 * Returns the cost in msat of spending a coin at an address of this type, at the lowest of these fee rates in
 * sat/vB. Zero until enough blocks have been sampled.
 */
export const spendingCost = (type: AddressType, rates: ReadonlyArray<number>): Msat.Msat =>
  rates.length < feeRateBlocks.least ? Msat.zero : Msat.fromSats(Coin.spendingSats(type, Math.min(...rates)))

/** Keeps the fee rates of recent blocks. */
export const make = Effect.gen(function* () {
  const chain = yield* ChainSource
  let rates: ReadonlyArray<number> = []
  let sampledAt = ""

  return {
    /** Samples the fee rate once per tip. If no fee rate is available, the next call tries again. */
    sample: Effect.fnUntraced(function* ({ hash }: Tip) {
      if (hash === sampledAt) return
      const rate = yield* Effect.option(chain.feeRate)
      if (Option.isNone(rate)) return
      rates = [...rates, rate.value].slice(-feeRateBlocks.most)
      sampledAt = hash
    }),
    spendingCost: (type: AddressType) => spendingCost(type, rates)
  }
})

export type FeeRates = Effect.Success<typeof make>
