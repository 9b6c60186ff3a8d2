import type { Random } from "@satrail/testing/Random"
import { draws, pay, trap, when } from "../../plot/Draw.ts"
import { type Act, maxSlots, type Operation, type To } from "../../plot/Operation.ts"

// Our offers appear in a share of the scenarios. They use a separate random stream, so that they don't change
// the other scenarios.

const share = 0.25
/** Number of operations after which there are companies with funds. */
const begun = 12

/** The offer-related calls that are most likely to cause damage when they fail. */
const calls = [
  "createOffer",
  "OfferCreated",
  "InvoiceCreated",
  "InvoiceSettled",
  "InternalTransferred",
  "CursorMoved",
  "offerByText"
] as const

const ownOffer = (random: Random): To => ({ _tag: "OwnOffer", which: random.pick([0, 0, 0, 1, 2]) })

const lay = (random: Random): Act => ({
  _tag: "Lay",
  trap: random.chance(0.3)
    ? trap(random)
    : {
        process: null,
        port: null,
        call: random.pick(calls),
        skips: random.below(2),
        fate: random.pick([
          { _tag: "dies", when: when(random), backAfterMillis: 0 },
          { _tag: "unanswered", when: when(random) },
          { _tag: "frozen", when: when(random), millis: random.pick([15_000, 45_000, 90_000]) },
          { _tag: "repeated" }
        ] as const)
      }
})

const one = (random: Random): Act => {
  const kind = random.below(10)
  if (kind < 1) return draws.CreateOffer(random)
  if (kind < 5) return { ...draws.PayOffer(random), which: random.pick([0, 0, 1]) }
  if (kind < 9) return { ...draws.Withdraw(random), to: ownOffer(random) }
  return pay(random, ownOffer(random))
}

/** A few operations at the same time, possibly with a fault among them. */
const few = (random: Random): ReadonlyArray<Act> => [
  ...(random.chance(0.3) ? [lay(random)] : []),
  ...Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, () => one(random)),
  ...(random.chance(0.1)
    ? [{ _tag: "Kill", slot: random.below(maxSlots), backAfterMillis: 0 } as const]
    : []),
  ...(random.chance(0.3) ? [draws.Wait(random)] : [])
]

/**
 * Returns the operations of a scenario. In a share of all scenarios, companies also issue offers, which
 * wallets, companies and refunds pay.
 */
export const injected = (operations: ReadonlyArray<Operation>, random: Random): ReadonlyArray<Operation> => {
  if (!random.chance(share)) return operations
  const told = (acts: ReadonlyArray<Act>) =>
    acts.map((act): Operation => ({ act, seed: random.below(0x1_0000_0000), rushes: random.chance(0.2) }))
  return operations.flatMap((operation, at) => {
    if (at === begun) return [...told([draws.CreateOffer(random), draws.CreateOffer(random)]), operation]
    return at > begun && random.chance(0.1) ? [...told(few(random)), operation] : [operation]
  })
}
