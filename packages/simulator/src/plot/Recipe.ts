import type { Random } from "@satrail/testing/Random"
import type { Fate } from "../world/Fault.ts"
import { holding, limiting, stopped, unowned } from "./RecipeOfTrade.ts"
import { stories } from "../features/stories.ts"
import { draws, follow, late, spend, trap, when } from "./Draw.ts"
import { type Act, maxSlots, type To } from "./Operation.ts"

// Several operations that are dangerous together.

/** Two companies with something to spend. */
export const beginning = (random: Random): ReadonlyArray<Act> => {
  const first = { slot: 0, isOnce: false, expirySeconds: 86_400 }
  const funded = (company: number, sats: number): ReadonlyArray<Act> => [
    { _tag: "OpenCompany", slot: 0, plan: random.pick(["free", "paid"]) },
    { _tag: "CreateInvoice", ...first, company, sats },
    { _tag: "Pay", which: 0, how: "exact", isHeld: false }
  ]
  return [
    ...funded(0, 1_000_000),
    ...funded(0, 150_000),
    { _tag: "CreateChainAddress", company: 0, slot: 0, isOnce: false, type: "segwit" },
    { _tag: "CreateAddress", company: 1, slot: 0, isOnce: false },
    ...(random.chance(0.8) ? [{ ...draws.CreateEndpoint(random), company: 0 }] : []),
    { _tag: "Wait", millis: 2000 }
  ]
}

/** Everything at once: requests that share a key, a balance, a record, at two processes. */
export const storm = (random: Random): ReadonlyArray<Act> => {
  const one = (): Act => {
    const kind = random.below(6)
    if (kind < 2) return { ...draws.Withdraw(random), company: 0 }
    if (kind < 4) return { ...draws.Repeat(random), which: random.below(2) }
    return follow(random)
  }
  return [...(random.chance(0.4) ? [spend(random, 1000)] : []), ...Array.from({ length: random.between(3, 8) }, one)]
}

/** A process sleeps longer than its claim lasts, and goes on with what it knew; until then another one had the work. */
const oversleeping = (random: Random): ReadonlyArray<Act> => {
  const call = random.pick([
    "WithdrawalFailed",
    "WithdrawalFailed",
    "WithdrawalFailed",
    "WithdrawalDispatched",
    "WithdrawalDispatched",
    "WithdrawalSettled",
    "InternalTransferred",
    "InvoiceClaimed"
  ])
  const fate: Fate = { _tag: "frozen", when: when(random), millis: random.pick([45_000, 60_000, 90_000]) }
  const outside: To = {
    _tag: random.pick(["Invoice", "OpenInvoice", "Address", "Offer"]),
    behaviour: random.pick(["settle", "hold", "hold"])
  }
  const routesUp: Act = { _tag: "RoutesDown", areDown: false }
  const isSoon = random.chance(0.7)
  return [
    { _tag: "RoutesDown", areDown: random.chance(0.7) },
    { _tag: "Lay", trap: { process: null, port: null, call, skips: 0, fate } },
    { ...draws.Withdraw(random), ...(random.chance(0.7) && { to: outside }) },
    { _tag: "Wait", millis: random.pick([1000, 2000, 5000]) },
    ...(isSoon ? [routesUp] : []),
    ...(random.chance(0.8) ? [draws.Forget(random)] : []),
    { _tag: "Wait", millis: 42_000 },
    ...(isSoon ? [] : [routesUp]),
    { _tag: "Wait", millis: 60_000 }
  ]
}

/** A call to pay is under way for longer than anybody waits for its answer; meanwhile the payment is tried again, and fails or not. */
const straying = (random: Random): ReadonlyArray<Act> => {
  const millis = late(random)
  const fate: Fate = random.pick<Fate>([
    { _tag: "stray", millis },
    { _tag: "stray", millis },
    { _tag: "orphaned", millis, backAfterMillis: 0 },
    { _tag: "late", when: "before", millis }
  ])
  const _tag = random.pick(["Invoice", "Address", "Offer"] as const)
  return [
    { _tag: "Lay", trap: { process: null, port: null, call: _tag === "Offer" ? "payOffer" : "pay", skips: 0, fate } },
    {
      ...draws.Withdraw(random),
      to: { _tag, behaviour: random.pick(["settle", "hold"]) },
      sats: 1000
    },
    { _tag: "Wait", millis: 1000 },
    { _tag: "RoutesDown", areDown: true },
    { _tag: "Wait", millis: random.pick([2000, 5000, 20_000]) },
    ...(random.chance(0.3) ? [draws.Kill(random)] : []),
    { _tag: "RoutesDown", areDown: false },
    { _tag: "Wait", millis: 42_000 }
  ]
}

/** What the node or the chain said is heard long after, when it is not so any more. */
const staleness = (random: Random): ReadonlyArray<Act> => {
  const call = random.pick(["lookupInvoice", "lookupInvoice", "transaction", "tip", "activity", "cancelInvoice"])
  const fate: Fate = random.pick<Fate>([
    { _tag: "late", when: "after", millis: 70_000 },
    { _tag: "frozen", when: "after", millis: 300_000 }
  ])
  return [
    random.chance(0.7) ? { ...draws.CreateInvoice(random), expirySeconds: 300 } : draws.Withdraw(random),
    ...(random.chance(0.5) ? [{ _tag: "LoseNotice" } as const] : []),
    { _tag: "Lay", trap: { process: null, port: null, call, skips: random.below(2), fate } },
    { _tag: "Jump", millis: 61_000 },
    random.chance(0.6) ? { ...draws.Pay(random), which: 0 } : draws.Reorg(random),
    ...(random.chance(0.3) ? [draws.Mine(random)] : []),
    { _tag: "Jump", millis: random.pick([300_000, 90_000_000]) },
    { _tag: "Wait", millis: 5000 }
  ]
}

/** A deposit comes, is credited, perhaps spent, and taken away again; perhaps it comes back. */
const reversal = (random: Random): ReadonlyArray<Act> => [
  // A company that has nothing else, or one that has.
  ...(random.chance(0.6) ? [{ ...draws.OpenCompany(random), plan: "paid" } as const] : []),
  { ...draws.CreateChainAddress(random), isOnce: false, company: 0 },
  { _tag: "Send", outputs: [{ which: 0, sats: random.pick([600, 5000, 50_000]) }] },
  ...(random.chance(0.3) ? [draws.Lay(random)] : []),
  { _tag: "Mine", blocks: random.pick([2, 3]) },
  { _tag: "Wait", millis: 11_000 },
  ...(random.chance(0.7) ? [{ ...draws.Withdraw(random), company: 0, sats: random.pick([5000, 20_000]) }] : []),
  ...(random.chance(0.3) ? [draws.Lay(random)] : []),
  { _tag: "Reorg", depth: 3 },
  ...(random.chance(0.7) ? [{ _tag: "Wait", millis: random.pick([1000, 11_000]) } as const] : []),
  ...(random.chance(0.4) ? [{ _tag: "DoubleSpend", which: 0 } as const] : []),
  { _tag: "Mine", blocks: 1 },
  { _tag: "Wait", millis: 11_000 }
]

/** Deposits and payouts come into blocks, and out of them, while the chain cannot say where a transaction stands. */
const unindexed = (random: Random): ReadonlyArray<Act> => [
  { ...draws.CreateChainAddress(random), isOnce: false, company: 0 },
  { _tag: "Send", outputs: [{ which: 0, sats: random.pick([5000, 50_000]) }] },
  ...(random.chance(0.5) ? [{ ...draws.Withdraw(random), to: { _tag: "Chain" }, sats: 5000 } as const] : []),
  ...(random.chance(0.5) ? [{ _tag: "Wait", millis: 11_000 } as const] : []),
  ...(random.chance(0.7) ? [{ _tag: "Mine", blocks: 1 } as const, { _tag: "Wait", millis: 11_000 } as const] : []),
  { _tag: "IndexBehind", millis: random.pick([20_000, 60_000, 120_000]) },
  ...(random.chance(0.4) ? [draws.Reorg(random)] : []),
  { _tag: "Mine", blocks: random.pick([1, 2, 3]) },
  ...(random.chance(0.3) ? [draws.Lay(random)] : []),
  { _tag: "Wait", millis: 11_000 },
  ...(random.chance(0.4) ? [draws.Reorg(random), draws.Mine(random)] : []),
  { _tag: "Wait", millis: random.pick([20_000, 60_000]) }
]

/** A payout that nobody mines is offered again for more; which of its transactions is mined, and for how long, is anybody's guess. */
const replacement = (random: Random): ReadonlyArray<Act> => [
  { _tag: "FeeRate", satsPerVbyte: random.pick([1, 2]) },
  { ...draws.Withdraw(random), to: { _tag: "Chain" }, sats: random.pick([5000, 20_000]) },
  { _tag: "Wait", millis: 3000 },
  ...(random.chance(0.3) ? [{ _tag: "Mine", blocks: 1 } as const, { _tag: "Reorg", depth: 1 } as const] : []),
  { _tag: "FeeRate", satsPerVbyte: random.pick([5, 20]) },
  ...(random.chance(0.4) ? [draws.Lay(random)] : []),
  { _tag: "Jump", millis: 700_000 },
  { _tag: "Wait", millis: 5000 },
  ...(random.chance(0.3) ? [{ ...draws.Withdraw(random), to: { _tag: "Chain" }, sats: 5000 } as const] : []),
  ...(random.chance(0.3) ? [{ _tag: "FeeRate", satsPerVbyte: 20 } as const, { _tag: "Jump", millis: 700_000 } as const] : []),
  { _tag: "Mine", blocks: random.pick([1, 2, 3]) },
  { _tag: "Wait", millis: 5000 },
  ...(random.chance(0.4) ? [{ _tag: "Reorg", depth: random.pick([1, 2, 3]) } as const, draws.Mine(random)] : [])
]

/** More payouts than the wallet has coins: some wait for the change of others. */
const exhaustion = (random: Random): ReadonlyArray<Act> => [
  ...Array.from({ length: 12 }, (): Act => ({ ...draws.Withdraw(random), to: { _tag: "Chain" }, sats: random.pick([1000, 5000]) })),
  { _tag: "Wait", millis: 3000 },
  draws.Lay(random),
  { _tag: "Mine", blocks: 1 },
  { _tag: "Wait", millis: 20_000 },
  ...(random.chance(0.5) ? [draws.Reorg(random)] : []),
  { _tag: "Mine", blocks: 1 },
  { _tag: "Wait", millis: 20_000 }
]

/** What is sent does not arrive, or is not known to have: a process dies between the two, the server fails, and its owner has it sent again. */
const undelivered = (random: Random): ReadonlyArray<Act> => {
  const fate: Fate = random.pick<Fate>([
    { _tag: "dies", when: when(random), backAfterMillis: 0 },
    { _tag: "unanswered", when: when(random) },
    { _tag: "stray", millis: late(random) },
    { _tag: "frozen", when: when(random), millis: random.pick([45_000, 300_000]) }
  ])
  const call = random.pick(["post", "post", "DeliveryMade", "DeliveryTried", "EndpointProgressed", "EndpointDisabled", "keepTold"])
  return [
    ...(random.chance(0.3) ? [draws.CreateEndpoint(random)] : []),
    draws.Receive(random),
    { _tag: "Lay", trap: { process: null, port: null, call, skips: random.below(3), fate } },
    random.pick([draws.Pay, draws.Withdraw, (random: Random) => spend(random, 1000), draws.CreateInvoice])(random),
    { _tag: "Wait", millis: random.pick([100, 2000, 10_000]) },
    ...(random.chance(0.5) ? [draws.Webhook(random)] : []),
    ...(random.chance(0.5) ? [draws.Withdraw(random)] : []),
    { _tag: "Jump", millis: random.pick([10_000, 45_000, 400_000, 90_000_000]) },
    { _tag: "Wait", millis: 5000 }
  ]
}

/**
 * Several things that are dangerous together: something lies in wait for a call, what leads to that call is done, and while one process is out of it
 * the world changes and another one goes on.
 */
const ambush = (random: Random): ReadonlyArray<Act> => {
  const slot = random.below(maxSlots)
  const send = (): Act => (random.chance(0.7) ? draws.Withdraw(random) : follow(random))
  const receive = (): Act => random.pick([draws.Pay(random), draws.PayAddress(random), draws.Send(random), draws.Mine(random)])
  const disturbance = (): Act =>
    random.pick([
      draws.Forget(random),
      draws.RoutesDown(random),
      draws.Release(random),
      draws.Mine(random),
      draws.Reorg(random),
      draws.Pay(random),
      follow(random),
      draws.CancelInvoice(random),
      draws.Repeat(random),
      draws.DoubleSpend(random),
      draws.Lay(random)
    ])
  const hours: Act = { _tag: "Jump", millis: random.pick([21_000, 45_000, 120_000, 700_000]) }
  return [
    ...(random.chance(0.3) ? [{ _tag: "RoutesDown", areDown: true } as const] : []),
    { _tag: "Lay", trap: { ...trap(random), process: random.chance(0.5) ? null : slot } },
    random.chance(0.75) ? send() : receive(),
    { _tag: "Wait", millis: random.pick([0, 100, 1000, 2000, 5000]) },
    { _tag: "RoutesDown", areDown: false },
    disturbance(),
    ...(random.chance(0.5) ? [disturbance()] : []),
    ...(random.chance(0.5) ? [hours] : [draws.Wait(random)]),
    { _tag: "Wait", millis: random.pick([1000, 5000, 20_000]) }
  ]
}

/** Each as often as it stands here. */
export const recipes = [
  storm,
  oversleeping,
  oversleeping,
  straying,
  staleness,
  reversal,
  reversal,
  replacement,
  replacement,
  exhaustion,
  unindexed,
  unindexed,
  undelivered,
  undelivered,
  undelivered,
  ambush,
  ambush,
  ambush,
  ambush,
  ambush,
  limiting,
  stopped,
  holding,
  holding,
  unowned,
  ...stories.flatMap(({ recipes }) => recipes)
]
