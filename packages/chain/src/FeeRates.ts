import { isYoung } from "@satrail/core/base/ReadCache"
import { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import { Clock, Effect } from "effect"

/** The bounds of fee rates, in satoshis per virtual byte, and their maximum age. */
export interface Options {
  /** Default 1: the minimum relay fee rate. */
  readonly minimum?: number | undefined
  /** Default 500. A higher estimate is more likely to be the source's error. */
  readonly maximum?: number | undefined
  /**
   * Used if the source has no estimate, as on a network without traffic. If it is absent too, there is no rate,
   * and on-chain fees can't be quoted.
   */
  readonly fallback?: number | undefined
  /** Default 10 minutes. */
  readonly maxAgeMillis?: number | undefined
}

/** An estimate in satoshis per virtual byte, with fractions; undefined if the source has none yet. */
export type Source = Effect.Effect<number | undefined, ChainUnavailable>

const freshForMillis = 15_000

/**
 * Returns the source's estimate, clamped and rounded up. The source is read at most every 15 s. During an outage
 * the last rate is used until it is too old.
 */
export const make = (
  source: Source,
  { minimum = 1, maximum = 500, fallback, maxAgeMillis = 10 * 60_000 }: Options = {}
): Effect.Effect<number, ChainUnavailable> => {
  let last: { readonly rate: number; readonly atMillis: number } | undefined
  return Effect.gen(function* () {
    const nowMillis = yield* Clock.currentTimeMillis
    if (last !== undefined && isYoung(last.atMillis, nowMillis, freshForMillis)) return last.rate
    const answer = yield* Effect.result(source)
    const estimate = answer._tag === "Success" ? (answer.success ?? fallback) : undefined
    if (estimate !== undefined) {
      const rate = Math.ceil(Math.min(maximum, Math.max(minimum, estimate)))
      last = { rate, atMillis: nowMillis }
      return rate
    }
    if (last !== undefined && isYoung(last.atMillis, nowMillis, maxAgeMillis)) return last.rate
    return yield* Effect.fail(
      answer._tag === "Failure"
        ? answer.failure
        : new ChainUnavailable({
            operation: "feeRate",
            cause: new Error("the source has no estimate of the fee rate")
          })
    )
  })
}
