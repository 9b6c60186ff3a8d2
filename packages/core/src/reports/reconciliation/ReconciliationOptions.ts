import { Context } from "effect"

/** How our books are compared with the node's and the chain's. */
export class ReconciliationOptions extends Context.Service<
  ReconciliationOptions,
  {
    readonly reconciliation: {
      readonly everyMillis: number
      /** What differs for less long may be on its way, and is not reported. */
      readonly graceMillis: number
      /** What was found about one payment is not looked at any more after so long. */
      readonly forgetMillis: number
      /** How many lines of the node's books, and how many events of ours, one comparison reads. */
      readonly lines: number
      /** How many lines are looked at again and again, because they differ or have not ended. Beyond that no more are read. */
      readonly watched: number
      /** A job that no process has claimed for so long is overdue. */
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
