import * as Refund from "./core/Refund.ts"
import type { RefundReads } from "./core/RefundReads.ts"
import { newestFirst, type Read } from "@satrail/memory/Reading"
import * as State from "@satrail/memory/State"

export const make = (read: Read): RefundReads["Service"] => ({
  refundsOf: (companyId, checkoutId, limit) =>
    read((now) => {
      const shown = State.ownedBy(now, Refund.noun, companyId).filter((row) =>
        Refund.takes.includes(row.status)
      )
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
