import * as Msat from "@satrail/bitcoin/Msat"
import { type Arrived, type Checkout, shownDeposits } from "@satrail/core/features/checkouts/Checkout"
import type { CheckoutReads } from "@satrail/core/features/checkouts/CheckoutReads"
import * as Deposit from "@satrail/core/receiving/Deposit"
import type { Read } from "../Reading.ts"
import * as State from "../State.ts"

const newestFirst = (deposits: ReadonlyArray<Deposit.Deposit>, limit: number) =>
  deposits
    .filter(({ status }) => status === "pending" || status === "settled")
    .toSorted((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, limit)

const arrivedFor = (deposits: ReadonlyArray<Deposit.Deposit>, { expiresAtMillis }: Pick<Checkout, "expiresAtMillis">): Arrived => {
  const sum = (status: Deposit.Deposit["status"], of = deposits) =>
    Msat.sum(...of.filter((row) => row.status === status).map(({ amount }) => amount))
  const inTime = deposits.filter((deposit) => deposit.rail === "lightning" || Deposit.paidAt(deposit) < expiresAtMillis)
  const heights = deposits.flatMap(({ status, height }) => (status === "pending" ? [height] : []))
  const mined = heights.filter((height) => height !== null)
  const pendingHeight = mined.length === 0 || mined.length < heights.length ? null : Math.max(...mined)
  const depositIds = newestFirst(deposits, shownDeposits).map(({ id }) => id)
  return {
    received: sum("settled"),
    pending: sum("pending"),
    refunded: Msat.sum(...deposits.filter(({ status }) => status === "settled").map(({ refunded }) => refunded)),
    inTime: Msat.sum(sum("settled", inTime), sum("pending", inTime)),
    pendingHeight,
    depositIds
  }
}

export const make = (read: Read): CheckoutReads["Service"] => ({
  arrivedFor: (checkout) =>
    read((now) => {
      const deposits = State.ownedBy(now, Deposit.noun, checkout.companyId).filter((row) => row.checkoutId === checkout.id)
      return arrivedFor(deposits, checkout)
    }),
  depositsFor: (companyId, checkoutId, limit) =>
    read((now) =>
      newestFirst(
        State.ownedBy(now, Deposit.noun, companyId).filter((row) => row.checkoutId === checkoutId),
        limit
      )
    )
})
