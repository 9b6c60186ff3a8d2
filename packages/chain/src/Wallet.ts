import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import { ChainWallet, type Derived, Unfundable } from "@satrail/core/nodes/ChainWallet"
import type * as Coin from "@satrail/core/nodes/Coin"
import * as Payout from "@satrail/core/sending/Payout"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import { Clock, Effect, Layer } from "effect"
import type { Unspent } from "./Books.ts"
import * as KeyBuffer from "./KeyBuffer.ts"
import * as Keys from "./Keys.ts"

/**
 * Maximum number of coins, largest first, that a payout selects from. It is limited because selection blocks
 * the process.
 */
const maxCandidates = 2000

/** How long a missing coin is left out before the chain is asked again. A reorganization can return the coin. */
const missingForMillis = 600_000

/** Maximum number of missing coins that an error lists. */
const maxListed = 10

const remedy =
  "If an older database was restored, payouts that it does not contain spent the coins: run `pause sending` and compare pending withdrawals with the chain, because they may be sent twice. If not, see coin_gone in the guide Reconcile."

/**
 * Finds coins that the store lists as unspent and the chain does not, as after a restore. A payout that spends one
 * could never confirm.
 */
const makeCheck = Effect.fnUntraced(function* (unspent: Unspent) {
  const records = yield* SendingReads
  let missing: ReadonlySet<string> = new Set()
  let forgetAtMillis = 0

  /**
   * Returns the confirmed coins among these that the chain lacks and no payout in the store spends. A payout is
   * stored before it is broadcast, so the store is asked last.
   */
  const lacking = Effect.fnUntraced(function* (coins: ReadonlyArray<Coin.Coin>) {
    const asked = coins.filter(({ isConfirmed }) => isConfirmed).map(({ outpoint }) => outpoint)
    const there = new Set(yield* unspent(asked))
    const gone = asked.filter((outpoint) => !there.has(outpoint))
    const spent = gone.length === 0 ? new Set<string>() : yield* records.spentCoins(gone)
    return gone.filter((outpoint) => !spent.has(outpoint))
  })

  /** Returns the coins that are not known to be missing. */
  const present = (coins: ReadonlyArray<Coin.Coin>) => coins.filter(({ outpoint }) => !missing.has(outpoint))

  return {
    present: (coins: ReadonlyArray<Coin.Coin>) =>
      Effect.map(Clock.currentTimeMillis, (nowMillis) => {
        if (nowMillis >= forgetAtMillis) missing = new Set()
        return present(coins)
      }),

    /**
     * Asks the chain about the selected coins, and about all others only if one of them is missing. Then returns
     * the remaining coins; undefined if none of the selected coins is missing.
     */
    remaining: Effect.fnUntraced(function* (selected: ReadonlyArray<Coin.Coin>, coins: ReadonlyArray<Coin.Coin>) {
      const first = yield* lacking(selected)
      if (first.length === 0) return undefined
      const found = [...first, ...(yield* lacking(coins.filter((coin) => !selected.includes(coin))))]
      if (missing.size === 0) forgetAtMillis = (yield* Clock.currentTimeMillis) + missingForMillis
      missing = new Set([...missing, ...found])
      yield* Effect.logError("payout: coins left out, because they are spent on chain", {
        coins: found.slice(0, maxListed),
        count: found.length,
        remedy
      })
      return present(coins)
    })
  }
})

export const make = Effect.fnUntraced(function* (accounts: Keys.Accounts, unspent: Unspent) {
  const records = yield* SendingReads
  const keys = Keys.make(accounts)
  const receiving = new Map<BitcoinAddress.AddressType, Effect.Effect<Derived, StoreUnavailable>>()
  for (const type of BitcoinAddress.AddressType.literals) receiving.set(type, yield* KeyBuffer.make(keys, { type, branch: 0 }))
  const change = yield* KeyBuffer.make(keys, { type: Payout.changeType, branch: 1 })
  const check = yield* makeCheck(unspent)

  return ChainWallet.of({
    fingerprint: accounts.fingerprint,
    network: accounts.network,
    newAddress: (type) => receiving.get(type) ?? Effect.die(new Error(`no account of type ${type}`)),
    build: Effect.fnUntraced(function* ({ payments, feeRate, free }) {
      const outputs = yield* Payout.asked(payments)
      const candidates = yield* records.coins(accounts.fingerprint, maxCandidates)
      const allowed = yield* free(candidates.map(({ outpoint }) => outpoint))
      const coins = yield* check.present(candidates.filter(({ outpoint }) => allowed.has(outpoint)))
      let selection = Payout.selectBatch({ coins, outputs, feeRate })
      if ("neededSats" in selection) return yield* new Unfundable(selection)
      const remaining = yield* check.remaining(selection.coins, coins)
      if (remaining !== undefined) selection = Payout.selectBatch({ coins: remaining, outputs, feeRate })
      if ("neededSats" in selection) return yield* new Unfundable(selection)
      // The first use of each key takes milliseconds, so derive one per event-loop turn.
      for (const coin of selection.coins) {
        keys.key(coin)
        yield* Effect.yieldNow
      }
      const { index, scriptPubKey: own } = selection.changeSats > 0n ? yield* change : { index: 0, scriptPubKey: "" }
      const place = { wallet: accounts.fingerprint, type: Payout.changeType, branch: 1, index, scriptPubKey: own } as const
      const given = Payout.changeOf(selection, place)
      const tx = Payout.drafted(keys, selection, outputs, given)
      yield* Effect.yieldNow
      return Payout.toDraft(tx, selection, given)
    })
  })
})

/**
 * A wallet that issues addresses and builds payouts. The store holds its coins and key indexes. A payout spends
 * only coins that are also on the chain.
 */
export const layer = (accounts: Keys.Accounts, unspent: Unspent) => Layer.effect(ChainWallet, make(accounts, unspent))
