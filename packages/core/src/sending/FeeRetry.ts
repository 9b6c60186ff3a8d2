import { Effect } from "effect"
import type { AccountReads } from "../accounts/AccountReads.ts"
import type { Sender } from "../accounts/Company.ts"
import { FeeChanged } from "../accounts/Fees.ts"
import { FeesMoved } from "../ledger/FeesMoved.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"

// A company's fees are not expected to change this often during one request.
const maxTries = 3

/**
 * Retries a commit that was rejected because the company's fees changed, using the current fees. The company
 * is charged the fees in force when the commit applies.
 */
export const retryOnFeeChange =
  (accounts: AccountReads["Service"]) =>
  <A, E, R>(
    company: Sender,
    attempt: (company: Sender) => Effect.Effect<A, E | FeesMoved, R>
  ): Effect.Effect<A, E | FeeChanged | StoreUnavailable, R> => {
    const again = (left: number): Effect.Effect<Sender, FeeChanged | StoreUnavailable> =>
      left === 0
        ? Effect.fail(new FeeChanged({}))
        : Effect.flatMap(accounts.company(company.id), (found) => Effect.orDie(Effect.fromOption(found)))
    const tried = (company: Sender, left: number): Effect.Effect<A, E | FeeChanged | StoreUnavailable, R> =>
      attempt(company).pipe(
        Effect.catch((error) =>
          error instanceof FeesMoved
            ? Effect.flatMap(again(left), (fresh) => tried(fresh, left - 1))
            : Effect.fail(error)
        )
      )
    return tried(company, maxTries - 1)
  }
