import { Context, type Effect } from "effect"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Refund } from "./Refund.ts"

/** Reads the refunds of checkouts and of deposits. */
export class RefundReads extends Context.Service<
  RefundReads,
  {
    /**
     * Returns the refunds of a checkout's deposits, newest first. Leaves out refunds that pay nothing: those
     * whose status is not in `Refund.takes`.
     */
    readonly refundsOf: (
      companyId: CompanyId.CompanyId,
      checkoutId: string,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Refund>, StoreUnavailable>
    /** Returns a deposit's refunds before `before` (exclusive; null for the first page), newest first by id. */
    readonly ofDeposit: (
      companyId: CompanyId.CompanyId,
      depositId: string,
      before: string | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Refund>, StoreUnavailable>
  }
>()("@satrail/features/refunds/core/RefundReads") {}
