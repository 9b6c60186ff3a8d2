import { Clock, Effect } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { AccountReads } from "./AccountReads.ts"

/**
 * Whether a company is still being set up: none of its keys was ever used, and it has no money. Until then one operator issues its keys alone, because there is nothing to
 * take yet.
 */
export const isNew = Effect.fnUntraced(function* (
  records: AccountReads["Service"],
  companyId: CompanyId.CompanyId
): Effect.fn.Return<boolean, StoreUnavailable> {
  const [standing] = yield* records.standings([companyId], yield* Clock.currentTimeMillis)
  return standing === undefined || (standing.lastSeenAtMillis === null && standing.balance.posted === 0n)
})
