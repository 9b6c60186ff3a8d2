import { Effect, Option } from "effect"
import * as Balance from "./Balance.ts"
import type { LedgerReads } from "./LedgerReads.ts"

/** A commit that says what there is where it is refused for want of money: one read more for a refusal, and none for what succeeds. */
export const told = <A, E, R>(
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
