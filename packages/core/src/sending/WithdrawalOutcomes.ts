import { Clock, Effect, Option } from "effect"
import { Journal } from "../ledger/Journal.ts"
import { fence, type Task } from "../ledger/Tasks.ts"
import * as Invoice from "../receiving/Invoice.ts"
import { ReceivingReads } from "../receiving/ReceivingReads.ts"
import * as Destination from "./Destination.ts"
import type { Next } from "./Payouts.ts"
import * as Withdrawal from "./Withdrawal.ts"

/** Another process has the job or has made the withdrawal final, so nothing is left to do here. */
export const overtaken = () => Effect.succeed<Next>("done")

/** Settles and fails withdrawals. Only the holder of the task may do so. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const receiving = yield* ReceivingReads

  /**
   * Releases the internal invoice that a withdrawal has claimed. An invoice of one of our companies that a payee's
   * server returned is not found here; it stays claimed until it expires.
   */
  const release = Effect.fnUntraced(function* (withdrawal: Withdrawal.Withdrawal, task: Task) {
    if (withdrawal.rail !== "lightning" || withdrawal.dispatchedAtMillis !== null) return
    const destination = Destination.stored(withdrawal)
    if (destination._tag !== "LightningInvoice") return
    const invoice = Option.getOrUndefined(yield* receiving.invoiceByHash(destination.invoice.paymentHash))
    if (invoice?.status === "claimed")
      yield* journal.commit(
        Invoice.released(invoice, withdrawal.id, fence(task), yield* Clock.currentTimeMillis)
      )
  })

  return {
    /**
     * Fails a withdrawal that was not paid and never will be. The invoice that it claimed is released first, because the
     * withdrawal is not retried once it has failed.
     */
    fail: Effect.fnUntraced(
      function* (withdrawal: Withdrawal.Withdrawal, failure: Withdrawal.Failure, task: Task) {
        yield* release(withdrawal, task)
        yield* journal.commit(
          Withdrawal.failed(withdrawal, failure, fence(task), yield* Clock.currentTimeMillis)
        )
        return "done" as const
      },
      Effect.catchTags({ StaleFence: overtaken, AlreadyTerminal: overtaken })
    ),
    /** Settles a paid withdrawal. */
    settle: Effect.fnUntraced(
      function* (withdrawal: Withdrawal.Withdrawal, settlement: Withdrawal.Settlement, task: Task) {
        if (settlement.networkFee > withdrawal.networkAllowance) {
          yield* Effect.logError(
            "withdrawal: network cost above the fee limit; booked as the operator's loss",
            {
              withdrawalId: withdrawal.id
            }
          )
        }
        yield* journal.commit(
          Withdrawal.settled(withdrawal, settlement, fence(task), yield* Clock.currentTimeMillis)
        )
        return "done" as const
      },
      Effect.catchTags({ StaleFence: overtaken, AlreadyTerminal: overtaken })
    )
  }
})

export type WithdrawalOutcomes = Effect.Success<typeof make>
