import type { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import { Effect, Option } from "effect"
import { ChainSource, type Tip } from "../nodes/ChainSource.ts"
import * as Coin from "../nodes/Coin.ts"

/**
 * A coin can wait for the cheapest of so many blocks to be spent. Before this many were seen since the start the rate may be a moment's, and does not
 * count.
 */
export const feeRateBlocks = { least: 6, most: 144 } as const

/** What spending a coin at an address of this type costs at the lowest rate of late, in sat/vB; nothing before the rate has lasted. */
export const spendingCost = (type: AddressType, rates: ReadonlyArray<number>): Msat.Msat =>
  rates.length < feeRateBlocks.least ? Msat.zero : Msat.fromSats(Coin.spendingSats(type, Math.min(...rates)))

/** Remembers what the blocks of late have asked for. */
export const make = Effect.gen(function* () {
  const chain = yield* ChainSource
  let rates: ReadonlyArray<number> = []
  let sampledAt = ""

  return {
    /** Once for each block that is the tip when it is looked at. A source that does not say is asked again. */
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
