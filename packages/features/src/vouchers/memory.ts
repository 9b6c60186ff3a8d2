import * as Voucher from "./core/Voucher.ts"
import type { VoucherReads } from "./core/VoucherReads.ts"
import type { Read } from "@satrail/memory/Reading"
import * as State from "@satrail/memory/State"

export const make = (read: Read): VoucherReads["Service"] => ({
  openVouchersBy: (companyId, createdBy, limit) =>
    read((now) =>
      (companyId === null ? State.all(now, Voucher.noun) : [...State.ownedBy(now, Voucher.noun, companyId)])
        .filter((row) => row.status === "open" && row.createdBy === createdBy)
        .slice(0, limit)
    )
})
