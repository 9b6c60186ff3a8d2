import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Refund from "@satrail/core/features/refunds/Refund"
import type { RefundReads } from "@satrail/core/features/refunds/RefundReads"
import type { Read } from "../Reading.ts"
import * as State from "../State.ts"

const newestFirst = (now: State.State, companyId: CompanyId.CompanyId, isMeant: (row: Refund.Refund) => boolean) =>
  State.ownedBy(now, Refund.noun, companyId)
    .filter(isMeant)
    .toSorted((a, b) => (a.id < b.id ? 1 : -1))

export const make = (read: Read): RefundReads["Service"] => ({
  refundsOf: (companyId, checkoutId, limit) =>
    read((now) => newestFirst(now, companyId, (row) => row.checkoutId === checkoutId && Refund.takes.includes(row.status)).slice(0, limit)),
  ofDeposit: (companyId, depositId, before, limit) =>
    read((now) => newestFirst(now, companyId, (row) => row.depositId === depositId && (before === null || row.id < before)).slice(0, limit))
})
