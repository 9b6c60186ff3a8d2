import * as Msat from "@satrail/bitcoin/Msat"
import * as Pages from "@satrail/core/base/Pages"
import { ChainBooks } from "@satrail/core/nodes/ChainBooks"
import type { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import * as Coin from "@satrail/core/nodes/Coin"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import type { Withdrawal } from "@satrail/core/sending/Withdrawal"
import { Effect, Layer } from "effect"

/** Which of these outputs are in the chain, and unspent. */
export type Unspent = (outpoints: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, ChainUnavailable>

/** How many coins are counted. */
const maxCoins = 100_000

/** About how many of them, the largest, the chain is asked each time: the rest are believed to be there. */
export const askedAbout = 2000
const pageSize = 500

const make = Effect.fnUntraced(function* (fingerprint: string, unspent: Unspent) {
  const records = yield* SendingReads

  /** Change of payouts that have not ended, where it is no coin yet: of which of several transactions it will be is not known, or it would be too deep. */
  const changeToCome = Effect.gen(function* () {
    const change = new Map<string, Msat.Msat>()
    const note = Effect.fnUntraced(function* ({ companyId, id }: Withdrawal) {
      const candidates = yield* records.candidates(companyId, id)
      const newest = candidates.at(-1)
      if (newest?.change?.wallet !== fingerprint || (candidates.length === 1 && !newest.isDeep)) return
      change.set(Coin.outpoint(newest.txId, newest.change.vout), newest.change.amount)
    })
    yield* Pages.each(
      pageSize,
      (after: Withdrawal | null) => records.withdrawalsUnderWay(after?.id ?? null, pageSize),
      (page) =>
        Effect.forEach(
          page.filter(({ rail }) => rail === "on_chain"),
          note,
          { discard: true }
        )
    )
    return Msat.sum(...change.values())
  })

  return ChainBooks.of({
    holdings: Effect.gen(function* () {
      const coins = yield* records.coins(fingerprint, maxCoins)
      const asked = coins.filter(({ isConfirmed }) => isConfirmed).slice(0, askedAbout)
      const there = new Set(yield* unspent(asked.map(({ outpoint }) => outpoint)))
      const gone = asked.filter(({ outpoint }) => !there.has(outpoint)).map(({ outpoint, amount }) => ({ outpoint, amount }))
      const all = Msat.sum(...coins.map(({ amount }) => amount), yield* changeToCome)
      return { owned: Msat.make(all - Msat.sum(...gone.map(({ amount }) => amount))), gone }
    })
  })
})

/** The chain's statement of the coins that the store has of a wallet. Money at its addresses that was not credited to a company is not part of it. */
export const layer = (fingerprint: string, unspent: Unspent): Layer.Layer<ChainBooks, never, SendingReads> =>
  Layer.effect(ChainBooks, make(fingerprint, unspent))
