import * as Voucher from "@satrail/core/features/vouchers/Voucher"
import type { VoucherReads } from "@satrail/core/features/vouchers/VoucherReads"
import { newestFirst, type Read } from "../Reading.ts"
import * as State from "../State.ts"

export const make = (read: Read): VoucherReads["Service"] => ({
  openVouchersBy: (companyId, createdBy, before, limit) =>
    read((now) =>
      newestFirst(
        State.ownedBy(now, Voucher.noun, companyId).filter((row) => row.status === "open" && row.createdBy === createdBy),
        before,
        limit
      )
    )
})
