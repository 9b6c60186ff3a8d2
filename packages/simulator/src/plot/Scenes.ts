import type { Random } from "@satrail/testing/Random"
import type { Fate } from "../world/Fault.ts"
import { when } from "./Draw.ts"
import type { Act } from "./Operation.ts"

// Parts of scenarios.

/** Injects a fault into one of these calls. */
export const trapAt = (random: Random, calls: ReadonlyArray<string>): Act => {
  const fate: Fate = random.pick<Fate>([
    { _tag: "dies", when: when(random), backAfterMillis: 0 },
    { _tag: "unanswered", when: when(random) },
    { _tag: "frozen", when: when(random), millis: random.pick([15_000, 90_000]) }
  ])
  return { _tag: "Lay", trap: { process: null, port: null, call: random.pick(calls), skips: 0, fate } }
}

export const wait = (millis: number): Act => ({ _tag: "Wait", millis })

/** The process that receives requests if none is chosen at random. */
export const slot = 0

/**
 * Sends a request with an Idempotency-Key, and then repeats it, because the process may have died before it
 * responded.
 */
export const surely = (request: Act): ReadonlyArray<Act> => [
  request,
  wait(1000),
  { _tag: "Repeat", slot, which: 0, isOther: false },
  wait(1000)
]

/**
 * Waits until the leases of jobs and leader roles end, so that another process takes over from a dead one.
 */
export const takenOver: ReadonlyArray<Act> = [{ _tag: "Jump", millis: 65_000 }, wait(3000)]

export const invoice = (company: number, sats: number): Act => ({
  _tag: "CreateInvoice",
  company,
  slot,
  isOnce: true,
  sats,
  expirySeconds: 86_400
})
export const pay = (which = 0, isHeld = false): Act => ({ _tag: "Pay", which, how: "exact", isHeld })

/** Opens a company that receives this amount. Later operations refer to the latest company as company 0. */
export const company = (sats = 0): ReadonlyArray<Act> => [
  { _tag: "OpenCompany", slot, plan: "paid" },
  ...(sats === 0 ? [] : [invoice(0, sats), pay(), wait(2000)])
]

/** A short scenario in which every call is a crash point. */
export interface Crash {
  /** Operations that run undisturbed. */
  readonly before: ReadonlyArray<Act>
  /** Operations during which one port call is exposed to a fault. */
  readonly during: ReadonlyArray<Act>
  /** Whether processes run the workers that call customers' servers. By default they don't. */
  readonly callsCustomers?: boolean
}
