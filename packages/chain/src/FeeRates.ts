import { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import { Clock, Effect } from "effect"

/** The bounds of fee rates, in satoshis per virtual byte, and their maximum age. */
export interface Options {
  /** Default 1: the minimum relay fee rate. */
  readonly minimum?: number | undefined
  /** Default 500. A higher estimate is more likely to be the source's error. */
  readonly maximum?: number | undefined
  /**
   * Used if no source has an estimate, as on a network without traffic. If it is absent too, there is no rate,
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
 * Returns the median, or the higher of two middle values, because paying too little costs more than paying too
 * much.
 */
export const median = (rates: ReadonlyArray<number>): number | undefined =>
  rates.toSorted((one, other) => one - other)[Math.floor(rates.length / 2)]

/**
 * Returns the median of all sources that respond, clamped and rounded up. The sources are read at most every 15
 * s. During an outage the last rate is used until it is too old.
 */
export const make = (
  sources: ReadonlyArray<Source>,
  { minimum = 1, maximum = 500, fallback, maxAgeMillis = 10 * 60_000 }: Options = {}
): Effect.Effect<number, ChainUnavailable> => {
  let last: { readonly rate: number; readonly atMillis: number } | undefined
  return Effect.gen(function* () {
    const nowMillis = yield* Clock.currentTimeMillis
    if (last !== undefined && nowMillis - last.atMillis < freshForMillis) return last.rate
    const answers = yield* Effect.forEach(sources, Effect.result, { concurrency: "unbounded" })
    const heard = answers.flatMap((answer) => (answer._tag === "Success" ? [answer.success] : []))
    const estimate = median(heard.filter((rate) => rate !== undefined)) ?? (heard.length > 0 ? fallback : undefined)
    if (estimate !== undefined) {
      const rate = Math.ceil(Math.min(maximum, Math.max(minimum, estimate)))
      last = { rate, atMillis: nowMillis }
      return rate
    }
    if (last !== undefined && nowMillis - last.atMillis < maxAgeMillis) return last.rate
    const failed = answers.find((answer) => answer._tag === "Failure")
    return yield* failed?._tag === "Failure"
      ? Effect.fail(failed.failure)
      : Effect.fail(new ChainUnavailable({ operation: "feeRate", cause: new Error("no source has an estimate of the fee rate") }))
  })
}
