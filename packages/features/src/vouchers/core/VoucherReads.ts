import { Context, type Effect } from "effect"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Voucher } from "./Voucher.ts"

/** Reads vouchers by the key or person that created them. */
export class VoucherReads extends Context.Service<
  VoucherReads,
  {
    /**
     * Returns up to `limit` vouchers of this maker whose status is `open`, of this company or, if it is null, of every
     * company.
     */
    readonly openVouchersBy: (
      companyId: CompanyId.CompanyId | null,
      createdBy: string,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Voucher>, StoreUnavailable>
  }
>()("@satrail/features/vouchers/core/VoucherReads") {}
