import * as Msat from "@satrail/bitcoin/Msat"
import * as Pages from "@satrail/core/base/Pages"
import { ChainBooks } from "@satrail/core/nodes/ChainBooks"
import type { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import * as Coin from "@satrail/core/nodes/Coin"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import type { Withdrawal } from "@satrail/core/sending/Withdrawal"
import { Effect, Layer } from "effect"

/** Filters outpoints for those that exist, in the chain or the mempool, and are unspent. */
export type Unspent = (
  outpoints: ReadonlyArray<string>
) => Effect.Effect<ReadonlyArray<string>, ChainUnavailable>

/** Maximum number of coins that the statement includes. */
const maxCoins = 100_000

/**
 * Maximum number of coins, largest first, that each statement checks on the chain. The others are assumed to
 * exist.
 */
export const askedAbout = 2000
const pageSize = 500

const make = Effect.fnUntraced(function* (fingerprint: string, unspent: Unspent) {
  const records = yield* SendingReads

  /**
   * The change of unfinished payouts that is not stored as a coin yet, because it is unknown which of several
   * transactions will confirm, or because the payout itself spends unconfirmed change.
   */
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
      const gone = asked
        .filter(({ outpoint }) => !there.has(outpoint))
        .map(({ outpoint, amount }) => ({ outpoint, amount }))
      const all = Msat.sum(...coins.map(({ amount }) => amount), yield* changeToCome)
      return { owned: Msat.make(all - Msat.sum(...gone.map(({ amount }) => amount))), gone }
    })
  })
})

/**
 * The chain's statement of the coins stored for a wallet. It excludes money at its addresses that was not
 * credited to a company.
 */
export const layer = (fingerprint: string, unspent: Unspent): Layer.Layer<ChainBooks, never, SendingReads> =>
  Layer.effect(ChainBooks, make(fingerprint, unspent))
