import type { Random } from "@satrail/testing/Random"
import { amounts, type Kept, kept, maxSlots, recently, type To, to } from "../../plot/Chance.ts"

/**
 * Refunds a company's deposit, or the payment of an invoice. It refunds a part or all that remains, to a
 * destination or by a link.
 */
export type Refund = {
  readonly _tag: "Refund"
  readonly of: "deposit" | "invoice"
  readonly which: number
  readonly sats: number | null
  readonly to: To | null
} & Kept
export interface CancelRefund {
  readonly _tag: "CancelRefund"
  readonly slot: number
  readonly which: number
}

export const path = "/v1/refunds"

const refund = (random: Random): Refund => ({
  _tag: "Refund",
  ...kept(random),
  of: random.pick(["deposit", "deposit", "invoice"]),
  which: recently(random),
  sats: random.chance(0.3) ? null : random.pick(amounts),
  to: random.chance(0.5) ? to(random) : null
})

/** Operations on refunds, and their likelihood. */
export const plot = {
  weights: { Refund: 5, CancelRefund: 1 },
  critical: ["RefundCreated", "RefundCompleted", "RefundFailed"],
  lists: [path],
  malformed: [[path, '{"invoice_id": "nobody", "amount": 1, "currency": "sats"}']],
  sends: [path],
  draws: {
    Refund: refund,
    CancelRefund: (random: Random): CancelRefund => ({
      _tag: "CancelRefund",
      slot: random.below(maxSlots),
      which: recently(random)
    })
  },
  spend: (random: Random, sats: number): Refund => ({
    ...refund(random),
    company: 0,
    of: "deposit",
    which: 0,
    sats,
    to: { _tag: "Invoice", behaviour: "settle" }
  }),
  pay: (random: Random, to: To): Refund => ({ ...refund(random), to })
} as const
