import type { Random } from "@satrail/testing/Random"
import { type Kept, kept, maxSlots, recently } from "../../plot/Chance.ts"

export type CreateCheckout = {
  readonly _tag: "CreateCheckout"
  readonly sats: number | null
  readonly expirySeconds: number
} & Kept
/** Pays the amount that the checkout currently requests: over Lightning, on-chain, partly on-chain, or both. */
export interface PayCheckout {
  readonly _tag: "PayCheckout"
  readonly slot: number
  readonly which: number
  readonly how: "lightning" | "chain" | "part" | "both"
}
export interface CancelCheckout {
  readonly _tag: "CancelCheckout"
  readonly slot: number
  readonly which: number
}

export const path = "/v1/checkouts"

const create = (random: Random): CreateCheckout => ({
  _tag: "CreateCheckout",
  ...kept(random),
  sats: random.chance(0.15) ? null : random.pick([1000, 2100, 5000, 20_000]),
  expirySeconds: random.pick([60, 300, 3600])
})

/** Operations on checkouts, and their likelihood. */
export const plot = {
  weights: { CreateCheckout: 3, PayCheckout: 4, CancelCheckout: 1 },
  critical: ["CheckoutPaid", "CheckoutUnderpaid", "CheckoutCanceled"],
  lists: [path],
  malformed: [[path, '{"amount": null, "tolerance_percent": 51}']],
  receives: [path],
  draws: {
    CreateCheckout: create,
    PayCheckout: (random: Random): PayCheckout => ({
      _tag: "PayCheckout",
      slot: random.below(maxSlots),
      which: recently(random),
      how: random.pick(["lightning", "lightning", "chain", "part", "part", "both"])
    }),
    CancelCheckout: (random: Random): CancelCheckout => ({
      _tag: "CancelCheckout",
      slot: random.below(maxSlots),
      which: recently(random)
    })
  },
  receive: create
} as const
