import type { Random } from "@satrail/testing/Random"
import { type Fate, ports, type Trap } from "../world/Fault.ts"
import { all, plots, together } from "../features/plots.ts"
import { amounts, asked, kept, maxSlots, recently, to } from "./Chance.ts"
import { type Act, type ActOf, stopping, type Tag, type To } from "./Operation.ts"

/** Calls that are most likely to cause damage when they fail. */
const critical = [
  "WithdrawalRequested",
  "WithdrawalDispatched",
  "WithdrawalSettled",
  "WithdrawalFailed",
  "WithdrawalReplaced",
  "InternalTransferred",
  "InvoiceClaimed",
  "InvoiceCreated",
  "InvoiceSettled",
  "InvoiceExpired",
  "InvoiceCanceled",
  "InvoiceClosed",
  "CancellationEnded",
  "DepositSeen",
  "DepositPlaced",
  "DepositConfirmed",
  "DepositReversed",
  "DepositReclaimed",
  "DepositDropped",
  "CursorMoved",
  "PayoutBuried",
  "InvoiceHeld",
  "InvoiceSettling",
  "pay",
  "payOffer",
  "lookupPayment",
  "lookupOffer",
  "lookupInvoice",
  "cancelInvoice",
  "createInvoice",
  "broadcast",
  "transaction",
  "build",
  "sign",
  "claim",
  "postpone"
] as const
const contradictable = [
  "pay",
  "payOffer",
  "lookupPayment",
  "lookupOffer",
  "lookupInvoice",
  "broadcast"
] as const

export const when = (random: Random) => (random.chance(0.5) ? "before" : "after")

export const late = (random: Random): number =>
  random.pick([random.between(100, 5000), random.between(5000, 20_000), random.between(20_000, 70_000)])

const fate = (random: Random): Fate => {
  const kind = random.below(10)
  const backAfterMillis = random.pick([0, 0, 1000, 10_000, 120_000])
  if (kind < 3) return { _tag: "dies", when: when(random), backAfterMillis }
  if (kind < 4) return { _tag: "orphaned", millis: late(random), backAfterMillis }
  if (kind < 5) return { _tag: "unanswered", when: when(random) }
  if (kind < 6) return { _tag: "stray", millis: late(random) }
  if (kind < 7) return { _tag: "late", when: when(random), millis: late(random) }
  if (kind < 9)
    return {
      _tag: "frozen",
      when: when(random),
      millis: random.pick([1000, 15_000, 45_000, 90_000, 300_000])
    }
  return { _tag: "repeated" }
}

export const trap = (random: Random): Trap => {
  const process = random.chance(0.3) ? null : random.below(maxSlots)
  if (random.chance(0.12)) {
    const call = random.pick(contradictable)
    return {
      process,
      port: null,
      call,
      skips: random.below(2),
      fate: { _tag: "contradicted", said: random.below(6) }
    }
  }
  if (random.chance(0.6))
    return {
      process,
      port: null,
      call: random.pick([...critical, ...all.flatMap(({ critical = [] }) => critical)]),
      skips: random.below(2),
      fate: fate(random)
    }
  return {
    process,
    port: random.chance(0.5) ? null : random.pick(ports),
    call: null,
    skips: random.below(12),
    fate: fate(random)
  }
}

/** Draws an operation of each kind. */
export const draws: { readonly [tag in Tag]: (random: Random) => ActOf<tag> } = {
  OpenCompany: (random) => ({
    _tag: "OpenCompany",
    slot: random.below(maxSlots),
    plan: random.pick(["free", "paid"])
  }),
  CreateInvoice: (random) => ({
    _tag: "CreateInvoice",
    ...kept(random),
    sats: random.chance(0.2) ? null : random.pick(amounts),
    expirySeconds: random.pick([60, 300, 3600, 86_400])
  }),
  CancelInvoice: (random) => ({
    _tag: "CancelInvoice",
    slot: random.below(maxSlots),
    which: recently(random)
  }),
  CreateAddress: (random) => ({ _tag: "CreateAddress", ...kept(random) }),
  CreateChainAddress: (random) => ({
    _tag: "CreateChainAddress",
    ...kept(random),
    type: random.pick(["taproot", "segwit", "nested_segwit"])
  }),
  Withdraw: (random) => ({ _tag: "Withdraw", ...kept(random), to: to(random), sats: random.pick(amounts) }),
  Repeat: (random) => ({
    _tag: "Repeat",
    slot: random.below(maxSlots),
    which: recently(random),
    isOther: random.chance(0.2)
  }),
  Malformed: (random) => ({ _tag: "Malformed", ...asked(random), which: random.below(64) }),
  Look: (random) => ({ _tag: "Look", ...asked(random), which: random.below(64) }),
  Pay: (random) => ({
    _tag: "Pay",
    which: recently(random),
    how: random.pick(["exact", "exact", "more", "double"]),
    isHeld: random.chance(0.3)
  }),
  PayAddress: (random) => ({
    _tag: "PayAddress",
    slot: random.below(maxSlots),
    which: recently(random),
    sats: random.pick(amounts)
  }),
  Release: (random) => ({
    _tag: "Release",
    which: random.below(8),
    outcome: random.chance(0.6) ? "settle" : "fail"
  }),
  Send: (random) => ({
    _tag: "Send",
    outputs: Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, () => ({
      which: recently(random),
      sats: random.pick([400, 599, 600, 5000, 50_000, 2_000_000])
    }))
  }),
  Mine: (random) => ({ _tag: "Mine", blocks: random.pick([1, 1, 1, 2, 3, 6]) }),
  Reorg: (random) => ({ _tag: "Reorg", depth: random.pick([1, 1, 2, 3]) }),
  DoubleSpend: (random) => ({ _tag: "DoubleSpend", which: recently(random) }),
  FeeRate: (random) => ({ _tag: "FeeRate", satsPerVbyte: random.pick([1, 2, 2, 5, 20]) }),
  Wait: (random) => ({
    _tag: "Wait",
    millis: random.pick([0, 100, 250, 1000, 1000, 2000, 5000, 10_000, 20_000])
  }),
  Jump: (random) => ({
    _tag: "Jump",
    millis: random.pick([
      10_000, 10_000, 45_000, 45_000, 120_000, 120_000, 700_000, 3_700_000, 90_000_000, 2_700_000_000
    ])
  }),
  Kill: (random) => ({
    _tag: "Kill",
    slot: random.below(maxSlots),
    backAfterMillis: random.pick([0, 1000, 30_000])
  }),
  Freeze: (random) => ({
    _tag: "Freeze",
    slot: random.below(maxSlots),
    millis: random.pick([1000, 15_000, 45_000, 90_000, 300_000])
  }),
  Skew: (random) => ({ _tag: "Skew", slot: random.below(maxSlots), millis: random.between(-9000, 9000) }),
  TakeAway: (random) => ({
    _tag: "TakeAway",
    port: random.pick(ports),
    millis: random.pick([500, 3000, 20_000])
  }),
  IndexBehind: (random) => ({ _tag: "IndexBehind", millis: random.pick([3000, 20_000, 120_000, 700_000]) }),
  Lay: (random) => ({ _tag: "Lay", trap: trap(random) }),
  LoseNotice: () => ({ _tag: "LoseNotice" }),
  RepeatNotices: (random) => ({ _tag: "RepeatNotices", times: random.between(2, 3) }),
  Forget: () => ({ _tag: "Forget" }),
  RoutesDown: (random) => ({ _tag: "RoutesDown", areDown: random.chance(0.4) }),
  LieOnce: () => ({ _tag: "LieOnce" }),
  CreateHold: (random) => ({
    _tag: "CreateHold",
    ...kept(random),
    sats: random.pick(amounts),
    expirySeconds: random.pick([60, 300, 3600]),
    isOwn: random.chance(0.4)
  }),
  SettleHold: (random) => ({ _tag: "SettleHold", slot: random.below(maxSlots), which: recently(random) }),
  Limit: (random) => ({
    _tag: "Limit",
    ...asked(random),
    whose: random.pick(["company", "key"]),
    window: random.pick(["hour_sats", "hour_sats", "day_sats", "month_sats"]),
    sats: random.pick([null, null, 3000, 25_000, 120_000]),
    count: random.pick([null, null, null, 3]),
    others: Object.assign({}, ...all.map(({ limits }) => limits?.(random)))
  }),
  Stop: (random) => ({ _tag: "Stop", ...asked(random), what: random.pick(stopping) }),
  Assign: (random) => ({ _tag: "Assign", ...asked(random), which: recently(random) }),
  Administer: (random) => ({
    _tag: "Administer",
    ...asked(random),
    what: random.pick(["plan", "domain", "vouch", "address", "delete", "revoke"]),
    which: recently(random)
  }),
  ...together(plots, "draws")
}

/** Draws one of the features' operations for this purpose, if there are any. */
const oneOf = <P extends "spend" | "pay" | "receive" | "follow">(random: Random, part: P) => {
  const found = all.flatMap((plot) => plot[part] ?? [])
  return found.length === 0 ? undefined : random.pick(found)
}

// oxlint-disable-next-line typescript/consistent-type-assertions -- features draw only operations
const drawn = (one: { readonly _tag: string } | undefined) => one as Act | undefined

/** Draws the features' operations for the start of a scenario. */
export const begin = (random: Random): ReadonlyArray<Act> =>
  all.flatMap(({ begin }) => drawn(begin?.(random)) ?? [])

/** Draws an operation that spends this amount of the first company's money, through a feature if possible. */
export const spend = (random: Random, sats: number): Act =>
  drawn(oneOf(random, "spend")?.(random, sats)) ?? { ...draws.Withdraw(random), company: 0, sats }

/** Draws an operation that sends money to a destination, through a feature if possible. */
export const pay = (random: Random, to: To): Act =>
  drawn(oneOf(random, "pay")?.(random, to)) ?? { ...draws.Withdraw(random), to }

/** Draws an operation that requests a payment, through a feature if possible. */
export const receive = (random: Random): Act =>
  drawn(oneOf(random, "receive")?.(random)) ?? draws.CreateInvoice(random)

/** Draws an operation on the latest record of a feature, or a repeated request. */
export const follow = (random: Random): Act =>
  drawn(oneOf(random, "follow")?.(random)) ?? draws.Repeat(random)
