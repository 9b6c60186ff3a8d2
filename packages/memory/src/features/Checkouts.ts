import * as Msat from "@satrail/bitcoin/Msat"
import { type Arrived, shownDeposits } from "@satrail/core/features/checkouts/Checkout"
import type { CheckoutReads } from "@satrail/core/features/checkouts/CheckoutReads"
import * as Deposit from "@satrail/core/receiving/Deposit"
import type { Read } from "../Reading.ts"
import * as State from "../State.ts"

const newestFirst = (deposits: ReadonlyArray<Deposit.Deposit>, limit: number) =>
  deposits
    .filter(({ status }) => status === "pending" || status === "settled")
    .toSorted((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, limit)

const arrivedFor = (deposits: ReadonlyArray<Deposit.Deposit>): Arrived => {
  const sum = (status: Deposit.Deposit["status"]) =>
    Msat.sum(...deposits.filter((row) => row.status === status).map(({ amount }) => amount))
  const heights = deposits.flatMap(({ status, height }) => (status === "pending" ? [height] : []))
  const mined = heights.filter((height) => height !== null)
  const pendingHeight = mined.length === 0 || mined.length < heights.length ? null : Math.max(...mined)
  const depositIds = newestFirst(deposits, shownDeposits).map(({ id }) => id)
  return { received: sum("settled"), pending: sum("pending"), pendingHeight, depositIds }
}

export const make = (read: Read): CheckoutReads["Service"] => ({
  arrivedFor: (companyId, checkoutId) =>
    read((now) => arrivedFor(State.ownedBy(now, Deposit.noun, companyId).filter((row) => row.checkoutId === checkoutId))),
  depositsFor: (companyId, checkoutId, limit) =>
    read((now) =>
      newestFirst(
        State.ownedBy(now, Deposit.noun, companyId).filter((row) => row.checkoutId === checkoutId),
        limit
      )
    )
})
