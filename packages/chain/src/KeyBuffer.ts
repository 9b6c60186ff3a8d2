import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import { Journal, type StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Derived } from "@satrail/core/nodes/ChainWallet"
import type * as Coin from "@satrail/core/nodes/Coin"
import * as KeyRange from "@satrail/core/receiving/KeyRange"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import { Clock, Effect, Latch, Semaphore } from "effect"
import type { Keys } from "./Keys.ts"

/**
 * Number of keys that a process reserves at once, and number derived ahead. Both are small because reserved
 * keys may stay unused, and the gap limit of most wallets is 20.
 */
const rangeSize = 10
const readyMinimum = 5

/**
 * Maximum number of attempts to reserve a range while other processes keep taking it. Far more than needed in
 * practice.
 */
const maxTries = 20

/**
 * Issues fresh keys of one account and branch. Each comes from a range that this process has reserved in the
 * store, so no key is issued twice, not even by another process or after a crash. The next keys are derived
 * ahead of use.
 */
export const make = Effect.fnUntraced(function* (keys: Keys, { type, branch }: Omit<Coin.Place, "index">) {
  const journal = yield* Journal
  const records = yield* ReceivingReads
  const entropy = yield* Entropy
  const lock = yield* Semaphore.make(1)
  const wanted = yield* Latch.make(false)
  const ready: Array<Derived> = []
  let range = { at: 0, next: 0 }
  const wallet = keys.accounts.fingerprint

  const reserve = Effect.gen(function* () {
    const first = yield* records.nextKey(wallet, type, branch)
    const nowMillis = yield* Clock.currentTimeMillis
    const id = Id.fromMillis(nowMillis, entropy)
    const next = first + rangeSize
    yield* journal.commit(KeyRange.reserved({ id, wallet, type, branch, first, next }, nowMillis))
    range = { at: first, next }
  }).pipe(
    Effect.retry({ times: maxTries, while: ({ _tag }) => _tag === "KeyRangeTaken" }),
    Effect.catchTags({ KeyRangeTaken: Effect.die, Conflict: Effect.die })
  )

  const derive: Effect.Effect<Derived, StoreUnavailable> = Effect.gen(function* () {
    if (range.at === range.next) yield* reserve
    const index = range.at++
    const { address, scriptPubKey } = keys.key({ type, branch, index }).address
    return { address, scriptPubKey, index }
  })

  const fill = Effect.gen(function* () {
    yield* wanted.await
    yield* wanted.close
    // Derive one key per event-loop turn, because a derivation blocks everything else.
    while (ready.length < readyMinimum) {
      yield* lock.withPermit(Effect.map(derive, (key) => ready.push(key)))
      yield* Effect.sleep(1)
    }
  })
  yield* Effect.forkScoped(
    Effect.forever(
      Effect.catchCause(fill, (cause) =>
        Effect.logWarning("wallet: deriving addresses ahead failed; they are derived on request", cause)
      )
    )
  )

  return Effect.tap(
    lock.withPermit(
      Effect.suspend(() => {
        const first = ready.shift()
        return first === undefined ? derive : Effect.succeed(first)
      })
    ),
    () => wanted.open
  )
})
