import * as Msat from "@satrail/bitcoin/Msat"
import * as Checkout from "./core/Checkout.ts"
import type { CheckoutReads } from "./core/CheckoutReads.ts"
import * as Deposit from "@satrail/core/receiving/Deposit"
import { newestFirst, type Read } from "@satrail/memory/Reading"
import * as State from "@satrail/memory/State"

const newestArrived = (deposits: ReadonlyArray<Deposit.Deposit>, limit: number) =>
  newestFirst(
    deposits.filter(({ status }) => status === "pending" || status === "settled"),
    null,
    limit
  )

const depositsOf = (state: State.State, { companyId, id }: Pick<Checkout.Checkout, "companyId" | "id">) =>
  State.ownedBy(state, Deposit.noun, companyId).filter(({ checkoutId }) => checkoutId === id)

const arrivedFor = (
  deposits: ReadonlyArray<Deposit.Deposit>,
  { expiresAtMillis }: Pick<Checkout.Checkout, "expiresAtMillis">
): Checkout.Arrived => {
  const sum = (status: Deposit.Deposit["status"], of = deposits) =>
    Msat.sum(...of.filter((row) => row.status === status).map(({ amount }) => amount))
  const inTime = deposits.filter(
    (deposit) => deposit.rail === "lightning" || Deposit.paidAt(deposit) < expiresAtMillis
  )
  const heights = deposits.flatMap(({ status, height }) => (status === "pending" ? [height] : []))
  const mined = heights.filter((height) => height !== null)
  const pendingHeight = mined.length === 0 || mined.length < heights.length ? null : Math.max(...mined)
  const depositIds = newestArrived(deposits, Checkout.shownDeposits).map(({ id }) => id)
  return {
    received: sum("settled"),
    pending: sum("pending"),
    refunded: Msat.sum(
      ...deposits.filter(({ status }) => status === "settled").map(({ refunded }) => refunded)
    ),
    inTime: Msat.sum(sum("settled", inTime), sum("pending", inTime)),
    pendingHeight,
    depositIds
  }
}

export const make = (read: Read): CheckoutReads["Service"] => ({
  arrivedFor: (checkout) => read((now) => arrivedFor(depositsOf(now, checkout), checkout)),
  depositsFor: (companyId, id, limit) =>
    read((now) => newestArrived(depositsOf(now, { companyId, id }), limit)),
  ofOrder: (companyId, orderId, before, limit) =>
    read((now) => {
      const ofOrder = State.ownedBy(now, Checkout.noun, companyId).filter((row) => row.orderId === orderId)
      return newestFirst(ofOrder, before, limit)
    })
})
