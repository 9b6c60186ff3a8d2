import { Context } from "effect"

/** Settings for reconciliation with the node and the chain. */
export class ReconciliationOptions extends Context.Service<
  ReconciliationOptions,
  {
    readonly reconciliation: {
      readonly everyMillis: number
      /** Grace period. A newer difference may be a payment in flight and is not reported. */
      readonly graceMillis: number
      /** How long a discrepancy in one payment is tracked. */
      readonly forgetMillis: number
      /** Maximum number of the node's entries, and of our events, read per run. */
      readonly lines: number
      /**
       * Maximum number of entries checked again because they differ or are not final. At this number, no
       * further entries are read.
       */
      readonly watched: number
      /** How long a due job may stay unclaimed before it is overdue. */
      readonly overdueMillis: number
    }
  }
>()("@satrail/core/reports/reconciliation/ReconciliationOptions") {}

export const defaults: ReconciliationOptions["Service"] = {
  reconciliation: {
    everyMillis: 5 * 60_000,
    graceMillis: 60_000,
    forgetMillis: 7 * 24 * 3600 * 1000,
    lines: 10_000,
    watched: 10_000,
    overdueMillis: 60_000
  }
}
