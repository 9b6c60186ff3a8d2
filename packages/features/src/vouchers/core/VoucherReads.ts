import { Context, type Effect } from "effect"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Voucher } from "./Voucher.ts"

/** Reads vouchers by the API key or person that created them. */
export class VoucherReads extends Context.Service<
  VoucherReads,
  {
    /**
     * Returns the vouchers of this maker whose status is `open`, before `before` (exclusive; null for the first page),
     * newest first by id.
     */
    readonly openVouchersBy: (
      companyId: CompanyId.CompanyId,
      createdBy: string,
      before: string | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Voucher>, StoreUnavailable>
  }
>()("@satrail/features/vouchers/core/VoucherReads") {}
