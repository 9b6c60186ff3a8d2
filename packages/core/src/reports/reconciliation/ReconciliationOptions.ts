import { Context } from "effect"

/** Time for which a due job may stay unclaimed before it counts as overdue. */
export const overdueMillis = 60_000

/** Settings for reconciliation with the node and the chain. */
export class ReconciliationOptions extends Context.Service<
  ReconciliationOptions,
  {
    readonly reconciliation: {
      readonly everyMillis: number
      /** Grace period. A newer difference is not reported, because a payment in flight may be its cause. */
      readonly graceMillis: number
      /** Time for which a discrepancy in a single payment is tracked. */
      readonly forgetMillis: number
      /** Maximum number of the node's entries, and of our events, read per run. */
      readonly lines: number
      /**
       * Maximum number of entries checked again because they differ or are not final. Once this number is
       * reached, no further entries are read.
       */
      readonly watched: number
    }
  }
>()("@satrail/core/reports/reconciliation/ReconciliationOptions") {}

export const defaults: ReconciliationOptions["Service"] = {
  reconciliation: {
    everyMillis: 5 * 60_000,
    graceMillis: 60_000,
    forgetMillis: 7 * 24 * 3600 * 1000,
    lines: 10_000,
    watched: 10_000
  }
}
