import type { Behaviour } from "@satrail/sandbox/Sandbox"
import type { Random } from "@satrail/testing/Random"

/** What is asked of the service: by whom, and which process is asked first. */
export interface Asked {
  readonly company: number
  readonly slot: number
}
export interface Kept extends Asked {
  /** Whether it is sent with an Idempotency-Key. */
  readonly isOnce: boolean
}

/** How many processes of the service there are in a story. */
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
/** Rather one of the latest. */
export const recently = (random: Random): number => Math.min(random.below(4), random.below(12))

export const asked = (random: Random) => ({ company: random.below(4), slot: random.below(maxSlots) })
export const kept = (random: Random) => ({ ...asked(random), isOnce: random.chance(0.6) })
