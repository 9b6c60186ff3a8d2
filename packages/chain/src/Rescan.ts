import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import * as Coin from "@satrail/core/nodes/Coin"
import { Effect, Option } from "effect"
import * as Block from "./Block.ts"
import type * as Follower from "./Follower.ts"
import type * as Keys from "./Keys.ts"

/**
 * Number of consecutive unused keys after which the scan ends. Most wallets stop at 20, but a service has long
 * runs of addresses that were never paid.
 */
export const usualGap = 1000

/** The index after the last key of an account and branch that was used, or reserved. */
export type Next = Omit<Coin.Place, "index"> & { readonly next: number }

/** A wallet's funds on the chain. */
export interface Found {
  /** Every coin that it received in the scanned blocks and can spend, oldest first. */
  readonly coins: ReadonlyArray<Coin.Coin & { readonly height: number }>
  /** For each account and branch, the index after the last used key. */
  readonly next: ReadonlyArray<Next>
}

export const branches = BitcoinAddress.AddressType.literals.flatMap((type) =>
  ([0, 1] as const).map((branch) => ({ type, branch }))
)

/**
 * Scans the chain from a height and finds all unspent payments to a wallet, from its accounts alone, without
 * any record of issued addresses. Searches `gap` keys beyond the last one used, and beyond those known to be
 * reserved: the blocks from a later height may contain no payment to the keys before them.
 */
export const scan = Effect.fnUntraced(function* (
  node: Follower.Node,
  keys: Keys.Keys,
  options: {
    readonly fromHeight: number
    readonly gap?: number
    readonly reserved?: ReadonlyArray<Next>
    readonly onProgress?: (height: number, tipHeight: number) => Effect.Effect<void>
  }
) {
  const { fromHeight, gap = usualGap, reserved = [], onProgress } = options
  const places = new Map<string, Coin.Place>()
  const derived = branches.map((of) => {
    const known = reserved.find(({ type, branch }) => type === of.type && branch === of.branch)?.next ?? 0
    return { ...of, known, upTo: 0, next: 0 }
  })
  const extend = Effect.fnUntraced(function* () {
    for (const one of derived) {
      for (; one.upTo < Math.max(one.known, one.next) + gap; one.upTo++) {
        const place = { type: one.type, branch: one.branch, index: one.upTo }
        places.set(keys.key(place).address.scriptPubKey, place)
        yield* Effect.yieldNow
      }
    }
  })
  yield* extend()

  const coins = new Map<string, Coin.Coin & { readonly height: number }>()
  const tip = yield* node.tip
  const gone = (height: number) =>
    new ChainUnavailable({
      operation: "rescan",
      cause: new Error(`block ${height} of ${tip.height} is gone: scan again`)
    })
  let last: string | undefined
  for (let height = fromHeight; height <= tip.height; height++) {
    const hash = yield* node.hashAt(height)
    // Skipping the block could report too few coins and keys, and so could a block of another chain than the last.
    if (Option.isNone(hash)) return yield* gone(height)
    const bytes = yield* node.block(hash.value)
    const { previousHash, transactions } = yield* Effect.try({
      try: () => Block.parse(bytes),
      catch: (cause) => new ChainUnavailable({ operation: "rescan", cause })
    })
    if (last !== undefined && previousHash !== last) return yield* gone(height - 1)
    last = hash.value
    let isExtended = true
    // A payment to a key beyond the derived ones may be in the same block that makes deriving it necessary.
    while (isExtended) {
      isExtended = false
      for (const transaction of transactions) {
        for (const { scriptPubKey, sats, vout } of transaction.outputs) {
          const place = places.get(scriptPubKey)
          if (place === undefined || sats === 0n) continue
          const outpoint = Coin.outpoint(transaction.txId(), vout)
          coins.set(outpoint, {
            outpoint,
            scriptPubKey,
            amount: Msat.fromSats(sats),
            ...place,
            isConfirmed: true,
            height
          })
          const branch = derived.find(({ type, branch }) => type === place.type && branch === place.branch)
          if (branch !== undefined && place.index >= branch.next) {
            branch.next = place.index + 1
            isExtended = true
          }
        }
      }
      if (isExtended) yield* extend()
    }
    for (const transaction of transactions) for (const outpoint of transaction.spent()) coins.delete(outpoint)
    if (onProgress !== undefined && height % 100 === 0) yield* onProgress(height, tip.height)
  }
  const found: Found = {
    coins: [...coins.values()],
    next: derived.map(({ type, branch, next }) => ({ type, branch, next }))
  }
  return found
})
