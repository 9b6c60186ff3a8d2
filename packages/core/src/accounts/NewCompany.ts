import { Clock, Context, Effect } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { AccountReads } from "./AccountReads.ts"

/** Returns whether anyone acts for the company without an API key. */
export const Users = Context.Reference<
  (companyId: CompanyId.CompanyId) => Effect.Effect<boolean, StoreUnavailable>
>("@satrail/core/accounts/NewCompany/Users", { defaultValue: () => () => Effect.succeed(false) })

/**
 * Returns whether a company is still being set up: none of its keys was ever used, nobody else uses it, and its
 * balance is zero. During setup, a single operator can grant access, because there are no funds to take.
 */
export const make = Effect.gen(function* () {
  const records = yield* AccountReads
  const isUsed = yield* Users
  return Effect.fnUntraced(function* (
    companyId: CompanyId.CompanyId
  ): Effect.fn.Return<boolean, StoreUnavailable> {
    const [standing] = yield* records.standings([companyId], yield* Clock.currentTimeMillis)
    if (standing !== undefined && (standing.lastSeenAtMillis !== null || standing.balance.posted !== 0n))
      return false
    return !(yield* isUsed(companyId))
  })
})
