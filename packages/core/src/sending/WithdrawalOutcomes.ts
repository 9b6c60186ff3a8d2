import { Clock, Effect } from "effect"
import { Journal } from "../ledger/Journal.ts"
import { fence, type Task } from "../ledger/Tasks.ts"
import type { Next } from "./Payouts.ts"
import * as Withdrawal from "./Withdrawal.ts"

/** Another process has the job or has made the withdrawal final, so nothing is left to do here. */
export const overtaken = () => Effect.succeed<Next>("done")

/** Settles and fails withdrawals. Only the holder of the task may do so. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal

  return {
    /** Fails a withdrawal that was not paid and never will be. */
    fail: Effect.fnUntraced(
      function* (withdrawal: Withdrawal.Withdrawal, failure: Withdrawal.Failure, task: Task) {
        yield* journal.commit(Withdrawal.failed(withdrawal, failure, fence(task), yield* Clock.currentTimeMillis))
        return "done" as const
      },
      Effect.catchTags({ StaleFence: overtaken, AlreadyTerminal: overtaken })
    ),
    /** Settles a paid withdrawal. */
    settle: Effect.fnUntraced(
      function* (withdrawal: Withdrawal.Withdrawal, settlement: Withdrawal.Settlement, task: Task) {
        if (settlement.networkFee > withdrawal.networkAllowance) {
          yield* Effect.logError("withdrawal: network cost above the fee limit; booked as the operator's loss", {
            withdrawalId: withdrawal.id
          })
        }
        yield* journal.commit(Withdrawal.settled(withdrawal, settlement, fence(task), yield* Clock.currentTimeMillis))
        return "done" as const
      },
      Effect.catchTags({ StaleFence: overtaken, AlreadyTerminal: overtaken })
    )
  }
})

export type WithdrawalOutcomes = Effect.Success<typeof make>
