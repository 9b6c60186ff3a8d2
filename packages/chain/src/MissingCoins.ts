import * as AcknowledgedCoins from "@satrail/core/accounts/AcknowledgedCoins"
import * as Stops from "@satrail/core/accounts/Stops"
import { isYoung } from "@satrail/core/base/ReadCache"
import type * as Coin from "@satrail/core/nodes/Coin"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import { Clock, Effect } from "effect"
import type { Unspent } from "./Books.ts"
import { away, Outage } from "./Outage.ts"

/**
 * Time for which payouts wait while a coin is missing, before sending is paused. A reorganization can return the
 * coin, and a server that lags behind soon knows it. Also, how long a coin is left out before the chain is asked
 * again.
 */
const patienceMillis = 600_000

/** Maximum number of missing coins that an error lists. */
const maxListed = 10

const reason = "coins are spent on chain, but not by a payout in the database"
const remedy =
  "If an older database was restored, compare pending withdrawals with the chain before you run `resume sending`: payouts that were lost would be sent twice. If not, see coin_gone in the guide Reconcile."

/**
 * Finds coins that the store lists as unspent and the chain does not, as after a restore. A payout that spends one
 * could never confirm. A payout from other coins could pay a withdrawal again that a lost payout has paid, so
 * sending is paused, and goes on without the missing coins when the operator resumes it.
 */
export const make = Effect.fnUntraced(function* (unspent: Unspent) {
  const [records, known, stops] = [yield* SendingReads, yield* AcknowledgedCoins.make, yield* Stops.make]
  /** Whether this process has asked about all coins. */
  let isChecked = false
  let leftOut: ReadonlySet<string> = new Set()
  let leftOutAtMillis = 0

  /**
   * Returns the confirmed coins among these that the chain lacks and no payout in the store spends. A payout is
   * stored before it is broadcast, so the store is asked last.
   */
  const lacking = Effect.fnUntraced(function* (coins: ReadonlyArray<Coin.Coin>) {
    const asked = coins.filter(({ isConfirmed }) => isConfirmed).map(({ outpoint }) => outpoint)
    if (asked.length === 0) return []
    const there = new Set(yield* unspent(asked))
    const gone = asked.filter((outpoint) => !there.has(outpoint))
    const spent = gone.length === 0 ? new Set<string>() : yield* records.spentCoins(gone)
    return gone.filter((outpoint) => !spent.has(outpoint))
  })

  const pause = Effect.fnUntraced(function* (coins: ReadonlyArray<string>) {
    yield* Effect.logError("sending: paused", { reason, remedy })
    yield* stops.pause("sending")
    yield* known.acknowledge(coins)
  })

  const present = (coins: ReadonlyArray<Coin.Coin>) => coins.filter(({ outpoint }) => !leftOut.has(outpoint))

  return {
    /** Returns the coins that are not left out. */
    present: (coins: ReadonlyArray<Coin.Coin>) =>
      Effect.map(Clock.currentTimeMillis, (nowMillis) => {
        if (!isYoung(leftOutAtMillis, nowMillis, patienceMillis)) leftOut = new Set()
        return present(coins)
      }),

    /**
     * Asks the chain about the selected coins, and about all others only if one of them is missing, or if this
     * process has not asked about them: after a restore, the selected coins may be newer than the backup. Then
     * returns the coins that are there; undefined if none of those asked about is missing. Fails while the
     * operator has not seen a missing coin.
     */
    remaining: Effect.fnUntraced(function* (
      selected: ReadonlyArray<Coin.Coin>,
      coins: ReadonlyArray<Coin.Coin>
    ) {
      const asked = isChecked ? selected : coins
      const first = yield* lacking(asked)
      if (first.length === 0) {
        isChecked = true
        const before = yield* known.counted
        const left = new Map(
          [...before].filter(([outpoint]) => !asked.some((coin) => coin.outpoint === outpoint))
        )
        if (left.size < before.size) yield* known.count(left)
        return undefined
      }
      const found = [...first, ...(yield* lacking(coins.filter((coin) => !asked.includes(coin))))]
      const unseen = yield* Effect.filter(found, (outpoint) =>
        Effect.map(known.isAcknowledged(outpoint), (is) => !is)
      )
      const nowMillis = yield* Clock.currentTimeMillis
      if (unseen.length === 0) {
        isChecked = true
        if (leftOut.size === 0) leftOutAtMillis = nowMillis
        leftOut = new Set([...leftOut, ...found])
        return present(coins)
      }
      const before = yield* known.counted
      const fresh = unseen.filter((outpoint) => !before.has(outpoint))
      const missing = new Map(unseen.map((outpoint) => [outpoint, before.get(outpoint) ?? nowMillis]))
      yield* known.count(missing)
      if (fresh.length > 0)
        yield* Effect.logError("payouts: waiting", {
          reason,
          coins: fresh.slice(0, maxListed),
          count: fresh.length,
          remedy
        })
      if (unseen.some((outpoint) => !isYoung(missing.get(outpoint) ?? nowMillis, nowMillis, patienceMillis)))
        yield* pause(unseen)
      return yield* away("coins")(new Outage(reason, remedy))
    })
  }
})
