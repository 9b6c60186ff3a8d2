import type { Random } from "@satrail/testing/Random"
import type { Fate } from "../world/Fault.ts"
import { holding, limiting, stopped, unowned } from "./RecipeOfTrade.ts"
import { early, stories } from "../features/index.ts"
import { begin, draws, follow, late, spend, trap, when } from "./Draw.ts"
import { type Act, maxSlots, type To } from "./Operation.ts"

// Dangerous combinations of operations.

/** Two companies with funds. */
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
    ...begin(random),
    { _tag: "Wait", millis: 2000 }
  ]
}

/** Concurrent requests that share a key, a balance or a record, at two processes. */
export const storm = (random: Random): ReadonlyArray<Act> => {
  const one = (): Act => {
    const kind = random.below(6)
    if (kind < 2) return { ...draws.Withdraw(random), company: 0 }
    if (kind < 4) return { ...draws.Repeat(random), which: random.below(2) }
    return follow(random)
  }
  return [
    ...(random.chance(0.4) ? [spend(random, 1000)] : []),
    ...Array.from({ length: random.between(3, 8) }, one)
  ]
}

/**
 * A process sleeps past the end of its claim and continues with stale data, after another process has taken
 * over the work.
 */
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

/** A payment call is in flight for longer than its caller waits, while the payment is retried and may fail. */
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
    {
      _tag: "Lay",
      trap: { process: null, port: null, call: _tag === "Offer" ? "payOffer" : "pay", skips: 0, fate }
    },
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

/** A response of the node or the chain arrives long after it became stale. */
const staleness = (random: Random): ReadonlyArray<Act> => {
  const call = random.pick([
    "lookupInvoice",
    "lookupInvoice",
    "transaction",
    "tip",
    "activity",
    "cancelInvoice"
  ])
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

/** A deposit arrives, is credited, perhaps spent, and then reversed. It may arrive again. */
const reversal = (random: Random): ReadonlyArray<Act> => [
  // A company with no other funds, or one with some.
  ...(random.chance(0.6) ? [{ ...draws.OpenCompany(random), plan: "paid" } as const] : []),
  { ...draws.CreateChainAddress(random), isOnce: false, company: 0 },
  { _tag: "Send", outputs: [{ which: 0, sats: random.pick([600, 5000, 50_000]) }] },
  ...(random.chance(0.3) ? [draws.Lay(random)] : []),
  { _tag: "Mine", blocks: random.pick([2, 3]) },
  { _tag: "Wait", millis: 11_000 },
  ...(random.chance(0.7)
    ? [{ ...draws.Withdraw(random), company: 0, sats: random.pick([5000, 20_000]) }]
    : []),
  ...(random.chance(0.3) ? [draws.Lay(random)] : []),
  { _tag: "Reorg", depth: 3 },
  ...(random.chance(0.7) ? [{ _tag: "Wait", millis: random.pick([1000, 11_000]) } as const] : []),
  ...(random.chance(0.4) ? [{ _tag: "DoubleSpend", which: 0 } as const] : []),
  { _tag: "Mine", blocks: 1 },
  { _tag: "Wait", millis: 11_000 }
]

/** Deposits and payouts are confirmed and reversed while the chain cannot report the position of transactions. */
const unindexed = (random: Random): ReadonlyArray<Act> => [
  { ...draws.CreateChainAddress(random), isOnce: false, company: 0 },
  { _tag: "Send", outputs: [{ which: 0, sats: random.pick([5000, 50_000]) }] },
  ...(random.chance(0.5) ? [{ ...draws.Withdraw(random), to: { _tag: "Chain" }, sats: 5000 } as const] : []),
  ...(random.chance(0.5) ? [{ _tag: "Wait", millis: 11_000 } as const] : []),
  ...(random.chance(0.7)
    ? [{ _tag: "Mine", blocks: 1 } as const, { _tag: "Wait", millis: 11_000 } as const]
    : []),
  { _tag: "IndexBehind", millis: random.pick([20_000, 60_000, 120_000]) },
  ...(random.chance(0.4) ? [draws.Reorg(random)] : []),
  { _tag: "Mine", blocks: random.pick([1, 2, 3]) },
  ...(random.chance(0.3) ? [draws.Lay(random)] : []),
  { _tag: "Wait", millis: 11_000 },
  ...(random.chance(0.4) ? [draws.Reorg(random), draws.Mine(random)] : []),
  { _tag: "Wait", millis: random.pick([20_000, 60_000]) }
]

/**
 * A payout that isn't mined is replaced with a higher fee. Any of its transactions may be mined, and may be
 * removed again.
 */
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
  ...(random.chance(0.3)
    ? [{ _tag: "FeeRate", satsPerVbyte: 20 } as const, { _tag: "Jump", millis: 700_000 } as const]
    : []),
  { _tag: "Mine", blocks: random.pick([1, 2, 3]) },
  { _tag: "Wait", millis: 5000 },
  ...(random.chance(0.4)
    ? [{ _tag: "Reorg", depth: random.pick([1, 2, 3]) } as const, draws.Mine(random)]
    : [])
]

/** There are more payouts than coins in the wallet, so some wait for the change of others. */
const exhaustion = (random: Random): ReadonlyArray<Act> => [
  ...Array.from({ length: 12 }, (): Act => ({
    ...draws.Withdraw(random),
    to: { _tag: "Chain" },
    sats: random.pick([1000, 5000])
  })),
  { _tag: "Wait", millis: 3000 },
  draws.Lay(random),
  { _tag: "Mine", blocks: 1 },
  { _tag: "Wait", millis: 20_000 },
  ...(random.chance(0.5) ? [draws.Reorg(random)] : []),
  { _tag: "Mine", blocks: 1 },
  { _tag: "Wait", millis: 20_000 }
]

/**
 * A fault is prepared for a call, and operations lead to that call. While the affected process is down, the
 * outside world changes and another process continues.
 */
const ambush = (random: Random): ReadonlyArray<Act> => {
  const slot = random.below(maxSlots)
  const send = (): Act => (random.chance(0.7) ? draws.Withdraw(random) : follow(random))
  const receive = (): Act =>
    random.pick([draws.Pay(random), draws.PayAddress(random), draws.Send(random), draws.Mine(random)])
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

/**
 * The more often a recipe is listed, the likelier it is. Changing the order changes the scenarios of all seeds.
 */
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
  ...early.flatMap(({ recipes }) => recipes),
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
