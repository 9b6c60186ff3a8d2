import * as Refund from "@satrail/core/features/refunds/Refund"
import type { RefundReads } from "@satrail/core/features/refunds/RefundReads"
import type { Read } from "../Reading.ts"
import * as State from "../State.ts"

export const make = (read: Read): RefundReads["Service"] => ({
  refundsOf: (companyId, checkoutId, limit) =>
    read((now) =>
      State.ownedBy(now, Refund.noun, companyId)
        .filter((row) => row.checkoutId === checkoutId && Refund.takes.includes(row.status))
        .toSorted((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, limit)
    )
})
