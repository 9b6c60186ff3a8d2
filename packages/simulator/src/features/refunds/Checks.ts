import * as Msat from "@satrail/bitcoin/Msat"
import { refunds as core } from "@satrail/core/features/refunds/index"
import * as Refund from "@satrail/core/features/refunds/Refund"
import { claim, same } from "../../checks/Violation.ts"
import * as Feature from "../Feature.ts"

const sum = (rows: ReadonlyArray<{ readonly amount: Msat.Msat }>) => Msat.sum(...rows.map(({ amount }) => amount))

/** Refunds of a deposit are never more than came in, whatever became of it since; and it notes what they take. */
const fits = (refunds: ReadonlyArray<Refund.Refund>, { deposits, withdrawals }: Feature.Moved): void => {
  for (const { id, amount, refunded } of deposits) {
    const own = refunds.filter(({ depositId }) => depositId === id)
    claim(refunded <= amount, `no more is refunded than came in: deposit ${id}`)
    same(refunded, sum(own.filter(({ status }) => Refund.takes.includes(status))), `a deposit notes what its refunds take: ${id}`)
    const ids = new Set(own.map((one) => one.id))
    const paid = withdrawals.filter(({ refundId, status }) => refundId !== null && ids.has(refundId) && status === "settled")
    claim(sum(paid) <= amount, `no more goes back than came in: deposit ${id}`)
  }
}

/** Every refund ended as what pays it. */
const ended = (refunds: ReadonlyArray<Refund.Refund>, { withdrawals }: Feature.Moved): void => {
  const byRefund = new Map(withdrawals.map((one) => [one.refundId, one]))
  for (const { id, status, amount } of refunds) {
    const paid = byRefund.get(id)
    claim(status !== "open" && status !== "pending", `no refund is under way for ever: ${id} is ${status}`)
    same(status === "completed", paid?.status === "settled", `a refund is completed when it was paid: ${id} is ${status}`)
    if (status === "completed") same(paid?.amount, amount, `a refund pays what it says: ${id}`)
  }
}

export const refunds = Feature.make(core)({
  changes: {
    RefundCreated: "happens",
    RefundClaimed: "happens",
    RefundCompleted: "happens",
    RefundFailed: "happens",
    RefundExpired: "happens",
    RefundCanceled: "happens"
  },
  transitions: [
    "refund: nothing to open",
    "refund: nothing to pending",
    "refund: pending to completed",
    "refund: pending to failed",
    "refund: open to expired",
    "refund: open to canceled"
  ],
  records: [
    Feature.record(Refund.noun, {
      kind: "refund",
      moves: { open: ["pending", "completed", "failed", "expired", "canceled"], pending: ["completed", "failed"] },
      told: {
        completed: /^refund\.completed$/,
        failed: /^refund\.failed$/,
        expired: /^refund\.expired$/,
        canceled: /^refund\.canceled$/
      },
      held: () => Msat.zero,
      became: () => null,
      asked: ({ metadata }) => metadata,
      ending: ({ status, amount }) => `refund ${status} ${amount}`,
      fits,
      ended
    })
  ],
  limits: {
    counts: ["RefundCreated"],
    returns: [],
    holders: { RefundCreated: ({ writes: [, , payment] }) => (payment?._tag === "Insert" ? payment.record.id : undefined) }
  }
})
