import type { Behaviour } from "@satrail/sandbox/Sandbox"
import type { Random } from "@satrail/testing/Random"

/** The requesting company, and the process that receives the request first. */
export interface Asked {
  readonly company: number
  readonly slot: number
}
export interface Kept extends Asked {
  /** Whether the request has an Idempotency-Key. */
  readonly isOnce: boolean
}

/** Maximum number of the service's processes in a scenario. */
export const maxSlots = 2

export const amounts = [1, 7, 100, 999, 1000, 2100, 5000, 20_000, 100_000] as const
export const behaviours: ReadonlyArray<Behaviour> = [
  "settle",
  "settle",
  "settle",
  "fail",
  "hold",
  "hold",
  "unknown_then_settle",
  "unknown_then_fail",
  "no_route"
]
/** Draws how far to count back from the latest record, preferring recent ones. */
export const recently = (random: Random): number => Math.min(random.below(4), random.below(12))

export const asked = (random: Random) => ({ company: random.below(4), slot: random.below(maxSlots) })
export const kept = (random: Random) => ({ ...asked(random), isOnce: random.chance(0.6) })

/** A destination. `which` counts back from the latest one. */
export type To =
  | { readonly _tag: "Invoice" | "Address" | "Lnurl" | "Offer"; readonly behaviour: Behaviour }
  /** An invoice whose amount the payer chooses. */
  | { readonly _tag: "OpenInvoice"; readonly behaviour: Behaviour }
  | { readonly _tag: "Chain" }
  | { readonly _tag: "OwnInvoice" | "OwnAddress" | "OwnOffer" | "OwnChain"; readonly which: number }
  /** A destination used before. */
  | { readonly _tag: "Again"; readonly which: number }

export const to = (random: Random): To => {
  const kind = random.below(20)
  const behaviour = random.pick(behaviours)
  if (kind < 6) return { _tag: "Invoice", behaviour }
  if (kind < 8) return { _tag: "OpenInvoice", behaviour }
  if (kind < 10) return { _tag: "Address", behaviour }
  if (kind < 11) return { _tag: "Lnurl", behaviour }
  if (kind < 13) return { _tag: "Chain" }
  if (kind < 14) return { _tag: "Offer", behaviour }
  if (kind < 17) return { _tag: "OwnInvoice", which: recently(random) }
  if (kind < 18) return { _tag: "OwnAddress", which: recently(random) }
  return kind < 19
    ? { _tag: "OwnChain", which: recently(random) }
    : { _tag: "Again", which: recently(random) }
}
