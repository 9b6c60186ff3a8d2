import type { Random } from "@satrail/testing/Random"
import { amounts, type Kept, kept, recently } from "../../plot/Chance.ts"

export type CreateOffer = { readonly _tag: "CreateOffer" } & Kept
/** A wallet pays one of our offers, which may already have been paid. */
export interface PayOffer {
  readonly _tag: "PayOffer"
  readonly which: number
  readonly sats: number
}

export const path = "/v1/bitcoin/deposit/offer"

/** Operations on offers. They are added to a share of the scenarios (see Injected.ts). */
export const plot = {
  weights: { CreateOffer: 0, PayOffer: 0 },
  critical: [],
  lists: [],
  malformed: [],
  receives: [path],
  draws: {
    CreateOffer: (random: Random): CreateOffer => ({ _tag: "CreateOffer", ...kept(random) }),
    PayOffer: (random: Random): PayOffer => ({
      _tag: "PayOffer",
      which: recently(random),
      sats: random.pick(amounts)
    })
  }
} as const
