import { Effect, Option } from "effect"
import * as Balance from "./Balance.ts"
import type { LedgerReads } from "./LedgerReads.ts"

/**
 * Adds the available balance to the error for insufficient funds. This costs one read per refusal and none on
 * success.
 */
export const withBalance = <A, E, R>(
  ledger: LedgerReads["Service"],
  commit: Effect.Effect<A, E | Balance.InsufficientBalance, R>
): Effect.Effect<A, E | Balance.InsufficientBalance, R> =>
  Effect.catchIf(
    commit,
    (error): error is Balance.InsufficientBalance => error instanceof Balance.InsufficientBalance,
    ({ companyId, needed }) =>
      Effect.flatMap(Effect.option(ledger.balance(companyId)), (found) =>
        Effect.fail(
          new Balance.InsufficientBalance({
            companyId,
            needed,
            ...(Option.isSome(found) && { available: Balance.available(found.value) })
          })
        )
      )
  )
