import { Context, type Effect } from "effect"
import type * as CompanyId from "../../base/CompanyId.ts"
import type { StoreUnavailable } from "../../ledger/Journal.ts"
import type { Refund } from "./Refund.ts"

/** Reads refunds beyond single records and lists. */
export class RefundReads extends Context.Service<
  RefundReads,
  {
    /**
     * Returns refunds of a checkout's deposits from which the payer receives something (`Refund.takes`),
     * newest first.
     */
    readonly refundsOf: (
      companyId: CompanyId.CompanyId,
      checkoutId: string,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Refund>, StoreUnavailable>
  }
>()("@satrail/core/features/refunds/RefundReads") {}
