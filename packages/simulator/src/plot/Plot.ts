import type { Random } from "@satrail/testing/Random"
import { plots, together } from "../features/plots.ts"
import { draws } from "./Draw.ts"
import type { Act, Operation, Tag } from "./Operation.ts"
import { beginning, recipes, storm } from "./Recipe.ts"

/**
 * Relative likelihood of each operation. Each scenario varies these weights. Operations with weight 0 are added
 * separately to a share of the scenarios (see features/offers/Injected.ts).
 */
const weights: { readonly [tag in Tag]: number } = {
  OpenCompany: 1,
  CreateInvoice: 8,
  CreateAddress: 1,
  CreateChainAddress: 3,
  Withdraw: 18,
  CancelInvoice: 2,
  Repeat: 6,
  Malformed: 2,
  Look: 3,
  Pay: 9,
  PayAddress: 2,
  Release: 6,
  Send: 4,
  Mine: 6,
  Reorg: 2,
  DoubleSpend: 1,
  FeeRate: 1,
  Wait: 22,
  Jump: 2,
  Kill: 2,
  Freeze: 2,
  Skew: 1,
  TakeAway: 2,
  Lay: 18,
  LoseNotice: 2,
  RepeatNotices: 1,
  Forget: 1,
  RoutesDown: 2,
  LieOnce: 1,
  Administer: 2,
  CreateHold: 3,
  SettleHold: 3,
  Limit: 1,
  Stop: 2,
  Assign: 1,
  IndexBehind: 1,
  ...together(plots, "weights")
}

/** Operations that every scenario needs. */
const needed = new Set<Tag>(["CreateInvoice", "Withdraw", "Pay", "Wait"])

// The tags are strings here, because their types cannot be tracked.
const weighted = Object.entries(weights).flatMap(([tag, weight]) => (weight === 0 ? [] : [{ tag, weight }]))
const isTag = (text: string): text is Tag => Object.hasOwn(draws, text)
const draw = (tag: string, random: Random): Act =>
  isTag(tag) ? draws[tag](random) : { _tag: "Wait", millis: 0 }

/** Every kind of operation. */
export const tags: ReadonlyArray<string> = Object.keys(weights)

/** Draws all operations of a scenario before any of them runs. */
export const list = (random: Random, count: number): ReadonlyArray<Operation> => {
  const inclined = weighted.flatMap(({ tag, weight }) => {
    const factor = isTag(tag) && needed.has(tag) ? random.pick([1, 2]) : random.pick([0, 0.5, 1, 1, 2, 4])
    return factor === 0 ? [] : [{ tag, weight: weight * factor * 2 }]
  })
  const total = inclined.reduce((sum, { weight }) => sum + weight, 0)
  const any = (): Act => {
    let left = random.below(total)
    for (const { tag, weight } of inclined) {
      left -= weight
      if (left < 0) return draw(tag, random)
    }
    return { _tag: "Wait", millis: 0 }
  }
  const rushing = random.pick([0, 0.2, 0.5])
  const ambushing = random.pick([0.02, 0.05, 0.1])
  const operation = (act: Act, rushes: boolean): Operation => ({
    act,
    seed: random.below(0x1_0000_0000),
    rushes
  })
  const all = beginning(random).map((act) => operation(act, false))
  while (all.length < count) {
    if (!random.chance(ambushing)) all.push(operation(any(), random.chance(rushing)))
    else {
      const recipe = random.pick(recipes)
      for (const act of recipe(random))
        all.push(operation(act, recipe === storm || random.chance(rushing / 4)))
    }
  }
  return all
}
