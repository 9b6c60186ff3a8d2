import * as Refund from "@satrail/core/features/refunds/Refund"
import type { RefundReads } from "@satrail/core/features/refunds/RefundReads"
import { newestFirst, type Read } from "../Reading.ts"
import * as State from "../State.ts"

export const make = (read: Read): RefundReads["Service"] => ({
  refundsOf: (companyId, checkoutId, limit) =>
    read((now) => {
      const shown = State.ownedBy(now, Refund.noun, companyId).filter((row) => Refund.takes.includes(row.status))
      return newestFirst(
        shown.filter((row) => row.checkoutId === checkoutId),
        null,
        limit
      )
    }),
  ofDeposit: (companyId, depositId, before, limit) =>
    read((now) =>
      newestFirst(
        State.ownedBy(now, Refund.noun, companyId).filter((row) => row.depositId === depositId),
        before,
        limit
      )
    )
})
