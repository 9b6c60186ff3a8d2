import { Cache, Effect, Exit, Option } from "effect"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { LightningSender } from "../nodes/LightningSender.ts"
import { SendingReads } from "./SendingReads.ts"

const minute = 60_000
const day = 86_400_000

/**
 * How far back an earlier payment is searched. Each search reads all withdrawals of its period, so a busy
 * service searches only the last minute.
 */
const periodsMillis = [minute, 60 * minute, day, 30 * day, 365 * day]

/**
 * Maximum number of minutes whose earlier payment is remembered. After a long outage of the node, the payments
 * of one minute share a search.
 */
const minutesRemembered = 1000

/**
 * Recognizes a node that lost records because it was restored or replaced. Such a node has no record of
 * payments that may still be in flight, so its "no record" proves nothing.
 */
export const make = Effect.gen(function* () {
  const records = yield* SendingReads
  const sender = yield* LightningSender
  let isTold = false

  // A payment that settled later does not count, because a node makes new records after a restore.
  const search = Effect.fnUntraced(function* (minutes: number) {
    const beforeMillis = minutes * minute
    for (const periodMillis of periodsMillis) {
      const found = yield* records.settledOverLightning(beforeMillis - periodMillis, beforeMillis)
      if (Option.isSome(found)) return found.value.paymentHash
    }
    return null
  })
  const settledBefore = yield* Cache.makeWith(search, {
    capacity: minutesRemembered,
    timeToLive: (exit) => (Exit.isSuccess(exit) ? "1 hour" : 0)
  })

  /**
   * Returns whether the node has lost the record of a payment that was dispatched at this time: `lost` if it has
   * no record of an earlier payment that it settled, `kept` if it still reports that one as settled, and
   * `unknown` otherwise. Without an earlier payment, nothing is known, and the node is believed.
   */
  return Effect.fnUntraced(function* (
    dispatchedAtMillis: number
  ): Effect.fn.Return<"lost" | "kept" | "unknown", StoreUnavailable> {
    const paymentHash = yield* Cache.get(settledBefore, Math.floor(dispatchedAtMillis / minute))
    if (paymentHash === null) return "kept"
    const { _tag } = yield* sender.lookupPayment(paymentHash)
    if (_tag === "notFound" && !isTold) {
      isTold = true
      yield* Effect.logError(
        `the node has lost payments. It has no record of ${paymentHash}, which it settled, so it was restored or replaced. Payments in flight of which it has no record stay pending, because their payees may still be paid. Bring its records back, or see docs/guides/lnd.md.`
      )
    }
    if (_tag === "settled") isTold = false
    return _tag === "settled" ? "kept" : _tag === "notFound" ? "lost" : "unknown"
  })
})
