import type { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import type { Plan } from "@satrail/core/policy/Plan"
import type { Behaviour } from "@satrail/sandbox/Sandbox"
import type { Random } from "@satrail/testing/Random"
import { type Fate, type Port, ports, type Trap } from "./Fault.ts"

/** Where money is sent. `which` counts back from the latest one there is. */
export type To =
  | { readonly _tag: "Invoice" | "Address" | "Lnurl"; readonly behaviour: Behaviour }
  /** An invoice that leaves the amount to whoever pays. */
  | { readonly _tag: "OpenInvoice"; readonly behaviour: Behaviour }
  | { readonly _tag: "Chain" }
  | { readonly _tag: "OwnInvoice" | "OwnAddress" | "OwnChain"; readonly which: number }
  /** Where something was sent before. */
  | { readonly _tag: "Again"; readonly which: number }

/** What is asked of the service: by whom, and which process is asked first. */
interface Asked {
  readonly company: number
  readonly slot: number
}
interface Kept extends Asked {
  /** Whether it is sent with an Idempotency-Key. */
  readonly isOnce: boolean
}

export type Act =
  | { readonly _tag: "OpenCompany"; readonly slot: number; readonly plan: Plan }
  | ({ readonly _tag: "CreateInvoice"; readonly sats: number; readonly expirySeconds: number } & Kept)
  | ({ readonly _tag: "CreateAddress" } & Kept)
  | ({ readonly _tag: "CreateChainAddress"; readonly type: AddressType } & Kept)
  | ({ readonly _tag: "Withdraw"; readonly to: To; readonly sats: number } & Kept)
  | ({ readonly _tag: "CreateVoucher"; readonly sats: number; readonly expirySeconds: number } & Kept)
  | {
      readonly _tag: "ClaimVoucher"
      readonly slot: number
      readonly which: number
      readonly into: "outside" | "own" | "wrong"
      readonly behaviour: Behaviour
    }
  | ({ readonly _tag: "CancelVoucher"; readonly which: number } & Asked)
  /** A request that was sent before is sent again; with `isOther` its key comes with another body. */
  | { readonly _tag: "Repeat"; readonly slot: number; readonly which: number; readonly isOther: boolean }
  | ({ readonly _tag: "Malformed"; readonly which: number } & Asked)
  | ({ readonly _tag: "Look"; readonly which: number } & Asked)
  | { readonly _tag: "Pay"; readonly which: number; readonly how: "exact" | "more" | "double"; readonly isHeld: boolean }
  | { readonly _tag: "PayAddress"; readonly slot: number; readonly which: number; readonly sats: number }
  | { readonly _tag: "Release"; readonly which: number; readonly outcome: "settle" | "fail" }
  | { readonly _tag: "Send"; readonly outputs: ReadonlyArray<{ readonly which: number; readonly sats: number }> }
  | { readonly _tag: "Mine"; readonly blocks: number }
  | { readonly _tag: "Reorg"; readonly depth: number }
  | { readonly _tag: "DoubleSpend"; readonly which: number }
  | { readonly _tag: "FeeRate"; readonly satsPerVbyte: number }
  | { readonly _tag: "Wait"; readonly millis: number }
  | { readonly _tag: "Jump"; readonly millis: number }
  | { readonly _tag: "Kill"; readonly slot: number; readonly backAfterMillis: number }
  | { readonly _tag: "Freeze"; readonly slot: number; readonly millis: number }
  | { readonly _tag: "Skew"; readonly slot: number; readonly millis: number }
  | { readonly _tag: "TakeAway"; readonly port: Port; readonly millis: number }
  /** For so long the chain tells of blocks, and does not know where a transaction stands that is in one. */
  | { readonly _tag: "IndexBehind"; readonly millis: number }
  | { readonly _tag: "Lay"; readonly trap: Trap }
  | { readonly _tag: "LoseNotice" }
  | { readonly _tag: "RepeatNotices"; readonly times: number }
  | { readonly _tag: "Forget" }
  | { readonly _tag: "RoutesDown"; readonly areDown: boolean }
  | { readonly _tag: "LieOnce" }
  | ({
      readonly _tag: "Administer"
      readonly what: "plan" | "domain" | "vouch" | "address" | "delete" | "revoke"
      readonly which: number
    } & Asked)

/** One thing that happens. `seed` says what is drawn while it does, so that it stays what it is when others are left out. */
export interface Operation {
  readonly act: Act
  readonly seed: number
  /** The next one does not wait until everything that can happen at this moment has happened. */
  readonly rushes: boolean
}

/** How many processes of the service there are in a story. */
export const maxSlots = 2

const amounts = [1, 7, 100, 999, 1000, 2100, 5000, 20_000, 100_000] as const
const behaviours: ReadonlyArray<Behaviour> = [
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
/** Calls around which most can go wrong. */
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
  "DepositSeen",
  "DepositPlaced",
  "DepositConfirmed",
  "DepositReversed",
  "DepositDropped",
  "VoucherCreated",
  "VoucherClaimed",
  "VoucherExpired",
  "VoucherCanceled",
  "CursorMoved",
  "PayoutBuried",
  "pay",
  "lookupPayment",
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
const contradictable = ["pay", "lookupPayment", "lookupInvoice", "broadcast"] as const

const recently = (random: Random): number => Math.min(random.below(4), random.below(12))

const to = (random: Random): To => {
  const kind = random.below(20)
  const behaviour = random.pick(behaviours)
  if (kind < 6) return { _tag: "Invoice", behaviour }
  if (kind < 8) return { _tag: "OpenInvoice", behaviour }
  if (kind < 10) return { _tag: "Address", behaviour }
  if (kind < 11) return { _tag: "Lnurl", behaviour }
  if (kind < 14) return { _tag: "Chain" }
  if (kind < 17) return { _tag: "OwnInvoice", which: recently(random) }
  if (kind < 18) return { _tag: "OwnAddress", which: recently(random) }
  return kind < 19 ? { _tag: "OwnChain", which: recently(random) } : { _tag: "Again", which: recently(random) }
}

const when = (random: Random) => (random.chance(0.5) ? "before" : "after")

const late = (random: Random): number =>
  random.pick([random.between(100, 5000), random.between(5000, 20_000), random.between(20_000, 70_000)])

const fate = (random: Random): Fate => {
  const kind = random.below(10)
  const backAfterMillis = random.pick([0, 0, 1000, 10_000, 120_000])
  if (kind < 3) return { _tag: "dies", when: when(random), backAfterMillis }
  if (kind < 4) return { _tag: "orphaned", millis: late(random), backAfterMillis }
  if (kind < 5) return { _tag: "unanswered", when: when(random) }
  if (kind < 6) return { _tag: "stray", millis: late(random) }
  if (kind < 7) return { _tag: "late", when: when(random), millis: late(random) }
  if (kind < 9) return { _tag: "frozen", when: when(random), millis: random.pick([1000, 15_000, 45_000, 90_000, 300_000]) }
  return { _tag: "repeated" }
}

const trap = (random: Random): Trap => {
  const process = random.chance(0.3) ? null : random.below(maxSlots)
  if (random.chance(0.12)) {
    const call = random.pick(contradictable)
    return { process, port: null, call, skips: random.below(2), fate: { _tag: "contradicted", said: random.below(6) } }
  }
  if (random.chance(0.6)) return { process, port: null, call: random.pick(critical), skips: random.below(2), fate: fate(random) }
  return { process, port: random.chance(0.5) ? null : random.pick(ports), call: null, skips: random.below(12), fate: fate(random) }
}

type Tag = Act["_tag"]

/** How likely each is, next to the others. Each story has an inclination of its own on top. */
const weights: { readonly [tag in Tag]: number } = {
  OpenCompany: 1,
  CreateInvoice: 8,
  CreateAddress: 1,
  CreateChainAddress: 3,
  Withdraw: 18,
  CreateVoucher: 4,
  ClaimVoucher: 4,
  CancelVoucher: 1,
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
  IndexBehind: 1
}

/** Every kind of operation. */
export const tags: ReadonlyArray<string> = Object.keys(weights)

/** What every story needs something of. */
const needed = new Set<Tag>(["CreateInvoice", "Withdraw", "Pay", "Wait"])

const asked = (random: Random) => ({ company: random.below(4), slot: random.below(maxSlots) })
const kept = (random: Random) => ({ ...asked(random), isOnce: random.chance(0.6) })

const draws: { readonly [tag in Tag]: (random: Random) => Extract<Act, { readonly _tag: tag }> } = {
  OpenCompany: (random) => ({ _tag: "OpenCompany", slot: random.below(maxSlots), plan: random.pick(["free", "paid"]) }),
  CreateInvoice: (random) => ({
    _tag: "CreateInvoice",
    ...kept(random),
    sats: random.pick(amounts),
    expirySeconds: random.pick([60, 300, 3600, 86_400])
  }),
  CreateAddress: (random) => ({ _tag: "CreateAddress", ...kept(random) }),
  CreateChainAddress: (random) => ({
    _tag: "CreateChainAddress",
    ...kept(random),
    type: random.pick(["taproot", "segwit", "nested_segwit"])
  }),
  Withdraw: (random) => ({ _tag: "Withdraw", ...kept(random), to: to(random), sats: random.pick(amounts) }),
  CreateVoucher: (random) => ({
    _tag: "CreateVoucher",
    ...kept(random),
    sats: random.pick(amounts),
    expirySeconds: random.pick([60, 60, 300, 3600])
  }),
  ClaimVoucher: (random) => ({
    _tag: "ClaimVoucher",
    slot: random.below(maxSlots),
    which: recently(random),
    into: random.pick(["outside", "outside", "own", "wrong"]),
    behaviour: random.pick(behaviours)
  }),
  CancelVoucher: (random) => ({ _tag: "CancelVoucher", ...asked(random), which: recently(random) }),
  Repeat: (random) => ({ _tag: "Repeat", slot: random.below(maxSlots), which: recently(random), isOther: random.chance(0.2) }),
  Malformed: (random) => ({ _tag: "Malformed", ...asked(random), which: random.below(64) }),
  Look: (random) => ({ _tag: "Look", ...asked(random), which: random.below(64) }),
  Pay: (random) => ({
    _tag: "Pay",
    which: recently(random),
    how: random.pick(["exact", "exact", "more", "double"]),
    isHeld: random.chance(0.3)
  }),
  PayAddress: (random) => ({ _tag: "PayAddress", slot: random.below(maxSlots), which: recently(random), sats: random.pick(amounts) }),
  Release: (random) => ({ _tag: "Release", which: random.below(8), outcome: random.chance(0.6) ? "settle" : "fail" }),
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
  Wait: (random) => ({ _tag: "Wait", millis: random.pick([0, 100, 250, 1000, 1000, 2000, 5000, 10_000, 20_000]) }),
  Jump: (random) => ({
    _tag: "Jump",
    millis: random.pick([10_000, 10_000, 45_000, 45_000, 120_000, 120_000, 700_000, 3_700_000, 90_000_000, 2_700_000_000])
  }),
  Kill: (random) => ({ _tag: "Kill", slot: random.below(maxSlots), backAfterMillis: random.pick([0, 1000, 30_000]) }),
  Freeze: (random) => ({ _tag: "Freeze", slot: random.below(maxSlots), millis: random.pick([1000, 15_000, 45_000, 90_000, 300_000]) }),
  Skew: (random) => ({ _tag: "Skew", slot: random.below(maxSlots), millis: random.between(-9000, 9000) }),
  TakeAway: (random) => ({ _tag: "TakeAway", port: random.pick(ports), millis: random.pick([500, 3000, 20_000]) }),
  IndexBehind: (random) => ({ _tag: "IndexBehind", millis: random.pick([3000, 20_000, 120_000, 700_000]) }),
  Lay: (random) => ({ _tag: "Lay", trap: trap(random) }),
  LoseNotice: () => ({ _tag: "LoseNotice" }),
  RepeatNotices: (random) => ({ _tag: "RepeatNotices", times: random.between(2, 3) }),
  Forget: () => ({ _tag: "Forget" }),
  RoutesDown: (random) => ({ _tag: "RoutesDown", areDown: random.chance(0.4) }),
  LieOnce: () => ({ _tag: "LieOnce" }),
  Administer: (random) => ({
    _tag: "Administer",
    ...asked(random),
    what: random.pick(["plan", "domain", "vouch", "address", "delete", "revoke"]),
    which: recently(random)
  })
}

// Each kind by its tag, which no type follows through.
const weighted = Object.entries(weights).map(([tag, weight]) => ({ tag, weight }))
const isTag = (text: string): text is Tag => Object.hasOwn(draws, text)
const draw = (tag: string, random: Random): Act => (isTag(tag) ? draws[tag](random) : { _tag: "Wait", millis: 0 })

/** Two companies with something to spend. */
const beginning = (random: Random): ReadonlyArray<Act> => {
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
    { _tag: "Wait", millis: 2000 }
  ]
}

/** Everything at once: requests that share a key, a balance, a voucher, at two processes. */
const storm = (random: Random): ReadonlyArray<Act> => {
  const one = (): Act => {
    const kind = random.below(6)
    if (kind < 2) return { ...draws.Withdraw(random), company: 0 }
    if (kind < 4) return { ...draws.Repeat(random), which: random.below(2) }
    return kind < 5 ? { ...draws.ClaimVoucher(random), which: 0 } : { ...draws.CancelVoucher(random), which: 0 }
  }
  return [...(random.chance(0.4) ? [draws.CreateVoucher(random)] : []), ...Array.from({ length: random.between(3, 8) }, one)]
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
  const outside: To = { _tag: random.pick(["Invoice", "OpenInvoice", "Address"]), behaviour: random.pick(["settle", "hold", "hold"]) }
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
  return [
    { _tag: "Lay", trap: { process: null, port: null, call: "pay", skips: 0, fate } },
    {
      ...draws.Withdraw(random),
      to: { _tag: random.pick(["Invoice", "Address"]), behaviour: random.pick(["settle", "hold"]) },
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

/**
 * Several things that are dangerous together: something lies in wait for a call, what leads to that call is done, and while one process is out of it
 * the world changes and another one goes on.
 */
const ambush = (random: Random): ReadonlyArray<Act> => {
  const slot = random.below(maxSlots)
  const spend = (): Act => (random.chance(0.7) ? draws.Withdraw(random) : draws.ClaimVoucher(random))
  const receive = (): Act => random.pick([draws.Pay(random), draws.PayAddress(random), draws.Send(random), draws.Mine(random)])
  const disturbance = (): Act =>
    random.pick([
      draws.Forget(random),
      draws.RoutesDown(random),
      draws.Release(random),
      draws.Mine(random),
      draws.Reorg(random),
      draws.Pay(random),
      draws.CancelVoucher(random),
      draws.Repeat(random),
      draws.DoubleSpend(random),
      draws.Lay(random)
    ])
  const hours: Act = { _tag: "Jump", millis: random.pick([21_000, 45_000, 120_000, 700_000]) }
  return [
    ...(random.chance(0.3) ? [{ _tag: "RoutesDown", areDown: true } as const] : []),
    { _tag: "Lay", trap: { ...trap(random), process: random.chance(0.5) ? null : slot } },
    random.chance(0.75) ? spend() : receive(),
    { _tag: "Wait", millis: random.pick([0, 100, 1000, 2000, 5000]) },
    { _tag: "RoutesDown", areDown: false },
    disturbance(),
    ...(random.chance(0.5) ? [disturbance()] : []),
    ...(random.chance(0.5) ? [hours] : [draws.Wait(random)]),
    { _tag: "Wait", millis: random.pick([1000, 5000, 20_000]) }
  ]
}

const recipes = [
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
  ambush,
  ambush,
  ambush,
  ambush,
  ambush
]

/** What happens in a story: all of it, before any of it does. */
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
  const operation = (act: Act, rushes: boolean): Operation => ({ act, seed: random.below(0x1_0000_0000), rushes })
  const all = beginning(random).map((act) => operation(act, false))
  while (all.length < count) {
    if (!random.chance(ambushing)) all.push(operation(any(), random.chance(rushing)))
    else {
      const recipe = random.pick(recipes)
      for (const act of recipe(random)) all.push(operation(act, recipe === storm || random.chance(rushing / 4)))
    }
  }
  return all
}
