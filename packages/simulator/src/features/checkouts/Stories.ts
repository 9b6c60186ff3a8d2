import type { Random } from "@satrail/testing/Random"
import { draws } from "../../plot/Draw.ts"
import { type Act, maxSlots } from "../../plot/Operation.ts"
import { company, slot, takenOver, trapAt, wait } from "../../plot/Scenes.ts"
import type { Stories } from "../Feature.ts"

/**
 * A checkout is paid over one rail or both, in part or late, or is canceled, while processes die between the
 * follow-up steps.
 */
const checkingOut = (random: Random): ReadonlyArray<Act> => {
  const pay = (): Act => ({ ...draws.PayCheckout(random), which: 0 })
  const mined: ReadonlyArray<Act> = [{ _tag: "Mine", blocks: 3 }, wait(11_000)]
  const cancel = (): Act => ({ _tag: "CancelCheckout", slot: random.below(maxSlots), which: 0 })
  return [
    { ...draws.CreateCheckout(random), company: 0, isOnce: false },
    ...(random.chance(0.6)
      ? [
          trapAt(random, [
            "CheckoutPaid",
            "CheckoutUnderpaid",
            "CheckoutCanceled",
            "InvoiceCanceled",
            "InvoiceCreated",
            "CheckoutCounted"
          ])
        ]
      : []),
    ...(random.chance(0.3) ? [cancel()] : [pay()]),
    ...(random.chance(0.7) ? mined : [wait(2000)]),
    ...(random.chance(0.3) ? [cancel()] : []),
    ...(random.chance(0.3) ? [{ _tag: "Jump", millis: random.pick([61_000, 400_000]) } as const] : []),
    pay(),
    ...mined,
    ...(random.chance(0.5) ? [pay(), ...mined] : []),
    ...(random.chance(0.2) ? [{ _tag: "Reorg", depth: 3 } as const, ...mined] : [])
  ]
}

const checkout: Act = {
  _tag: "CreateCheckout",
  company: 0,
  slot,
  isOnce: true,
  sats: 2000,
  expirySeconds: 3600
}
const pay = (how: "lightning" | "part"): Act => ({ _tag: "PayCheckout", slot, which: 0, how })
const mine = (blocks: number): ReadonlyArray<Act> => [{ _tag: "Mine", blocks }, ...takenOver]

export const stories: Stories = {
  recipes: [checkingOut, checkingOut],
  crashes: {
    "checkout that is paid": {
      before: [...company(), checkout, pay("lightning")],
      during: [wait(2000), ...takenOver]
    },
    "checkout that is paid in part": {
      before: [...company(), checkout, pay("part")],
      during: [...mine(1), ...mine(2)]
    }
  }
}
