import type { Behaviour } from "@satrail/sandbox/Sandbox"
import type { Random } from "@satrail/testing/Random"
import {
  amounts,
  type Asked,
  asked,
  behaviours,
  type Kept,
  kept,
  maxSlots,
  recently
} from "../../plot/Chance.ts"

export type CreateVoucher = {
  readonly _tag: "CreateVoucher"
  readonly sats: number
  readonly expirySeconds: number
} & Kept
export interface ClaimVoucher {
  readonly _tag: "ClaimVoucher"
  readonly slot: number
  readonly which: number
  readonly into: "outside" | "own" | "wrong"
  readonly behaviour: Behaviour
}
export type CancelVoucher = { readonly _tag: "CancelVoucher"; readonly which: number } & Asked

export const path = "/v1/vouchers"

const create = (random: Random): CreateVoucher => ({
  _tag: "CreateVoucher",
  ...kept(random),
  sats: random.pick(amounts),
  expirySeconds: random.pick([60, 60, 300, 3600])
})

const claim = (random: Random): ClaimVoucher => ({
  _tag: "ClaimVoucher",
  slot: random.below(maxSlots),
  which: recently(random),
  into: random.pick(["outside", "outside", "own", "wrong"]),
  behaviour: random.pick(behaviours)
})

const cancel = (random: Random): CancelVoucher => ({
  _tag: "CancelVoucher",
  ...asked(random),
  which: recently(random)
})

/** Operations on vouchers, and their likelihood. */
export const plot = {
  weights: { CreateVoucher: 4, ClaimVoucher: 4, CancelVoucher: 1 },
  critical: ["VoucherCreated", "VoucherClaimed", "VoucherExpired", "VoucherCanceled"],
  lists: [path],
  malformed: [
    [path, '{"amount": 1, "currency": "sats", "expiry_seconds": 59}'],
    [path, '{"amount": 50000000, "currency": "sats"}']
  ],
  sends: [path],
  draws: { CreateVoucher: create, ClaimVoucher: claim, CancelVoucher: cancel },
  spend: (random: Random, sats: number): CreateVoucher => ({ ...create(random), company: 0, sats }),
  follow: (random: Random): ClaimVoucher | CancelVoucher => ({
    ...(random.chance(0.7) ? claim(random) : cancel(random)),
    which: 0
  })
} as const
