import { Context, type Effect } from "effect"
import type * as CompanyId from "../../base/CompanyId.ts"
import type { StoreUnavailable } from "../../ledger/Journal.ts"
import type { Refund } from "./Refund.ts"

/** What can be read of refunds besides a record and a list of them. */
export class RefundReads extends Context.Service<
  RefundReads,
  {
    /** Refunds of what paid a checkout, of which its payer gets something (`Refund.takes`), the newest first. */
    readonly refundsOf: (
      companyId: CompanyId.CompanyId,
      checkoutId: string,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Refund>, StoreUnavailable>
  }
>()("@satrail/core/features/refunds/RefundReads") {}
