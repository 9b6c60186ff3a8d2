import type { Random } from "@satrail/testing/Random"
import { maxSlots, recently } from "../../plot/Chance.ts"

/**
 * A company's key approves or rejects a withdrawal that awaits a second key. The deciding key may be the
 * requesting key itself.
 */
export interface Decide {
  readonly _tag: "Decide"
  readonly slot: number
  readonly which: number
  readonly by: "another" | "asker"
  readonly how: "approve" | "reject"
}

/** The limit above which a withdrawal waits for approval. */
export const aboveSats = (sats: number) => ({ approval_above_sats: sats })

/** Operations on waiting withdrawals, and their likelihood. */
export const plot = {
  weights: { Decide: 3 },
  limits: (random: Random): { readonly [name: string]: number } => {
    const sats = random.pick([null, null, 500, 5000])
    return sats === null ? {} : aboveSats(sats)
  },
  critical: ["WithdrawalApproved", "WithdrawalRejected"],
  draws: {
    Decide: (random: Random): Decide => ({
      _tag: "Decide",
      slot: random.below(maxSlots),
      which: recently(random),
      by: random.chance(0.7) ? "another" : "asker",
      how: random.chance(0.7) ? "approve" : "reject"
    })
  }
} as const
