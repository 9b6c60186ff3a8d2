import * as Msat from "@satrail/bitcoin/Msat"
import { refunds as core } from "@satrail/features/refunds/core"
import * as Refund from "@satrail/features/refunds/core/Refund"
import { claim, same } from "../../checks/Violation.ts"
import * as Feature from "../Feature.ts"
import { acts } from "./Acts.ts"
import { stories } from "./Stories.ts"

const sum = (rows: ReadonlyArray<{ readonly amount: Msat.Msat }>) =>
  Msat.sum(...rows.map(({ amount }) => amount))

/**
 * Checks that refunds of a deposit never exceed the amount received, even if the deposit has since been
 * reversed, and that the deposit records them.
 */
const fits = (refunds: ReadonlyArray<Refund.Refund>, { deposits, withdrawals }: Feature.Moved): void => {
  for (const { id, amount, refunded } of deposits) {
    const own = refunds.filter(({ depositId }) => depositId === id)
    claim(refunded <= amount, `refunds never exceed the amount received: deposit ${id}`)
    same(
      refunded,
      sum(own.filter(({ status }) => Refund.takes.includes(status))),
      `a deposit's refunded amount equals its refunds: ${id}`
    )
    const ids = new Set(own.map((one) => one.id))
    const paid = withdrawals.filter(
      ({ refundId, status }) => refundId !== null && ids.has(refundId) && status === "settled"
    )
    claim(sum(paid) <= amount, `paid refunds never exceed the amount received: deposit ${id}`)
  }
}

/** Checks that every refund has the same outcome as its withdrawal. */
const ended = (refunds: ReadonlyArray<Refund.Refund>, { withdrawals }: Feature.Moved): void => {
  const byRefund = new Map(withdrawals.map((one) => [one.refundId, one]))
  for (const { id, status, amount } of refunds) {
    const paid = byRefund.get(id)
    claim(
      status !== "open" && status !== "pending",
      `every refund reaches a final status: ${id} is ${status}`
    )
    same(
      status === "completed",
      paid?.status === "settled",
      `a refund is completed if and only if it was paid: ${id} is ${status}`
    )
    if (status === "completed") same(paid?.amount, amount, `a refund pays its amount: ${id}`)
  }
}

export const refunds = Feature.make(core)({
  acts,
  stories,
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
      moves: {
        open: ["pending", "completed", "failed", "expired", "canceled"],
        pending: ["completed", "failed"]
      },
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
    holders: {
      RefundCreated: ({ writes: [, , payment] }) =>
        payment?._tag === "Insert" ? payment.record.id : undefined
    }
  }
})
