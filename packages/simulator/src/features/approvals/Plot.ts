import type { Random } from "@satrail/testing/Random"
import { maxSlots, recently } from "../../plot/Chance.ts"

/** A key of its company approves or rejects what waits for another key than the one that asked: that other one, or the same. */
export interface Decide {
  readonly _tag: "Decide"
  readonly slot: number
  readonly which: number
  readonly by: "another" | "asker"
  readonly how: "approve" | "reject"
}

/** What is done with withdrawals that wait, and how likely. */
export const plot = {
  weights: { Decide: 3 },
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
