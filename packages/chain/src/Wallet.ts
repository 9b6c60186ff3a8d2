import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import { ChainWallet, type Derived, Unfundable } from "@satrail/core/nodes/ChainWallet"
import type * as Coin from "@satrail/core/nodes/Coin"
import * as Payout from "@satrail/core/sending/Payout"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import { Effect, Layer } from "effect"
import type { Unspent } from "./Books.ts"
import * as KeyBuffer from "./KeyBuffer.ts"
import * as Keys from "./Keys.ts"
import * as MissingCoins from "./MissingCoins.ts"

/**
 * Maximum number of coins, largest first, that a payout selects from. It is limited because selection blocks
 * the process.
 */
const maxCandidates = 2000

/** Number of the newest reserved keys of each account and branch among which the key of a script is searched. */
const searchedKeys = 2000

export const make = Effect.fnUntraced(function* (accounts: Keys.Accounts, unspent: Unspent) {
  const records = yield* SendingReads
  const receivingReads = yield* ReceivingReads
  const keys = Keys.make(accounts)
  const receiving = new Map<BitcoinAddress.AddressType, Effect.Effect<Derived, StoreUnavailable>>()
  for (const type of BitcoinAddress.AddressType.literals)
    receiving.set(type, yield* KeyBuffer.make(keys, { type, branch: 0 }))
  const freshChange = yield* KeyBuffer.make(keys, { type: Payout.changeType, branch: 1 })
  /** The key of the last change, and the coins that every draft with this key spends. */
  let last: { readonly key: Derived; readonly coins: ReadonlySet<string> } | undefined

  /**
   * Returns the key for the change of a draft that spends these coins. All drafts with one key have a coin in common,
   * so at most one of them is ever stored. A fresh key for each attempt would use up a thousand keys in hours while
   * the signer is unavailable, and another wallet would miss the coins after that gap.
   */
  const changeKey = Effect.fnUntraced(function* (coins: ReadonlyArray<Coin.Coin>) {
    const spent = coins.map(({ outpoint }) => outpoint)
    const common = spent.filter((outpoint) => last?.coins.has(outpoint))
    last =
      last !== undefined && common.length > 0
        ? { key: last.key, coins: new Set(common) }
        : { key: yield* freshChange, coins: new Set(spent) }
    return last.key
  })

  const missing = yield* MissingCoins.make(unspent)

  const placesOf = Effect.fnUntraced(function* (scriptPubKeys: ReadonlyArray<string>) {
    const wanted = new Set(scriptPubKeys)
    const places = new Map<string, Coin.Place>()
    for (const type of BitcoinAddress.AddressType.literals) {
      for (const branch of [1, 0] as const) {
        const next = yield* receivingReads.nextKey(accounts.fingerprint, type, branch)
        for (
          let index = next - 1;
          index >= Math.max(0, next - searchedKeys) && places.size < wanted.size;
          index--
        ) {
          const { scriptPubKey } = keys.key({ type, branch, index }).address
          if (wanted.has(scriptPubKey)) places.set(scriptPubKey, { type, branch, index })
          yield* Effect.yieldNow
        }
      }
    }
    return places
  })

  return ChainWallet.of({
    fingerprint: accounts.fingerprint,
    network: accounts.network,
    placesOf,
    newAddress: (type) => receiving.get(type) ?? Effect.die(new Error(`no account of type ${type}`)),
    build: Effect.fnUntraced(function* ({ payments, feeRate, free }) {
      const outputs = yield* Payout.asked(payments)
      const candidates = yield* records.coins(accounts.fingerprint, maxCandidates)
      const allowed = yield* free(candidates.map(({ outpoint }) => outpoint))
      const coins = yield* missing.present(candidates.filter(({ outpoint }) => allowed.has(outpoint)))
      let selection = Payout.selectBatch({ coins, outputs, feeRate })
      if ("neededSats" in selection) return yield* new Unfundable(selection)
      const remaining = yield* missing.remaining(selection.coins, coins)
      if (remaining !== undefined) selection = Payout.selectBatch({ coins: remaining, outputs, feeRate })
      if ("neededSats" in selection) return yield* new Unfundable(selection)
      // The first use of each key takes milliseconds, so derive one per event-loop turn.
      for (const coin of selection.coins) {
        keys.key(coin)
        yield* Effect.yieldNow
      }
      const { index, scriptPubKey: own } =
        selection.changeSats > 0n ? yield* changeKey(selection.coins) : { index: 0, scriptPubKey: "" }
      const place = {
        wallet: accounts.fingerprint,
        type: Payout.changeType,
        branch: 1,
        index,
        scriptPubKey: own
      } as const
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
export const layer = (accounts: Keys.Accounts, unspent: Unspent) =>
  Layer.effect(ChainWallet, make(accounts, unspent))
