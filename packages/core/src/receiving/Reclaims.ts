import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Effect } from "effect"
import * as Balance from "../ledger/Balance.ts"
import { Journal } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import * as Deposit from "./Deposit.ts"
import { ReceivingReads } from "./ReceivingReads.ts"

/** Number of deposits reclaimed at once. The next step continues with the others. */
const atOnce = 500

/**
 * Repays the operator for reversed deposits, as soon as their companies have available funds: the reversal could not
 * debit what was held, and a hold may be released. Returns the number of deposits found.
 */
export const make = Effect.gen(function* () {
  const [journal, ledger, receiving] = [yield* Journal, yield* LedgerReads, yield* ReceivingReads]
  return Effect.gen(function* () {
    const owed = yield* receiving.depositsOwed(atOnce)
    for (const deposit of owed) {
      const left = Balance.available(yield* ledger.balance(deposit.companyId))
      const amount = left < deposit.absorbed ? left : deposit.absorbed
      if (amount <= 0n) continue
      yield* journal.commit(Deposit.reclaimed(deposit, amount, yield* Clock.currentTimeMillis)).pipe(
        Effect.andThen(
          Effect.logInfo("deposit: an amount that was written off is taken back from the company's balance", {
            depositId: deposit.id,
            reclaimedSats: Msat.toDecimalSats(amount)
          })
        ),
        // The company spent it, or the deposit changed: the next step reads both again.
        Effect.catchTag(["InsufficientBalance", "DepositMoved"], () => Effect.void)
      )
    }
    return owed.length
  })
})
