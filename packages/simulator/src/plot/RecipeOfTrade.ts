import type { Random } from "@satrail/testing/Random"
import { draws, follow, receive, spend } from "./Draw.ts"
import { type Act, maxSlots } from "./Operation.ts"
import { trapAt, wait } from "./Scenes.ts"

// Dangerous combinations of operations about limits, pauses, hold invoices and suspense.

const slot = (random: Random) => random.below(maxSlots)

/** The limit allows a few withdrawals, and the clock crosses window boundaries between them. */
export const limiting = (random: Random): ReadonlyArray<Act> => {
  const [to, sats] = [
    { _tag: "Invoice", behaviour: random.pick(["settle", "settle", "fail", "hold"] as const) } as const,
    1000
  ]
  const one = (): Act =>
    random.chance(0.8) ? { ...draws.Withdraw(random), company: 0, to, sats } : spend(random, sats)
  const many = (): ReadonlyArray<Act> => Array.from({ length: random.between(2, 4) }, one)
  // Jumps to just before a bucket's end, to its end, or beyond it.
  const edge = (): Act => ({
    _tag: "Jump",
    millis: random.pick([30_000, 59_000, 61_000, 1_799_000, 3_541_000, 3_600_000, 3_661_000, 86_400_000])
  })
  const limit: Act = {
    ...draws.Limit(random),
    company: 0,
    sats: 3500,
    count: random.pick([null, 3]),
    others: {}
  }
  return [
    limit,
    ...many(),
    edge(),
    ...many(),
    edge(),
    ...many(),
    edge(),
    ...many(),
    { ...limit, sats: null, count: null }
  ]
}

/** An activity is paused while requests are in progress, and later resumed. */
export const stopped = (random: Random): ReadonlyArray<Act> => {
  const at = { company: 0, slot: slot(random) }
  const [stop, go] = random.pick([
    ["freeze", "unfreeze"],
    ["pause sending", "resume sending"],
    ["pause receiving", "resume receiving"]
  ] as const)
  const ask = () =>
    random.pick([
      draws.Withdraw,
      draws.Withdraw,
      (random: Random) => spend(random, 1000),
      (random: Random) => spend(random, 1000),
      draws.CreateInvoice,
      receive
    ])(random)
  return [
    { ...draws.Withdraw(random), company: 0 },
    { _tag: "Stop", ...at, what: stop },
    ...Array.from({ length: random.between(2, 4) }, () => ({ ...ask(), company: 0 })),
    follow(random),
    wait(random.pick([300, 5000])),
    { ...ask(), company: 0 },
    { _tag: "Stop", ...at, slot: slot(random), what: go },
    { ...ask(), company: 0 },
    wait(3000)
  ]
}

/**
 * A payment is held, and then settled or returned while processes and the node go down. The company settles it,
 * cancels it, or does both concurrently, or its HTLC times out.
 */
export const holding = (random: Random): ReadonlyArray<Act> => {
  const decide = (): Act =>
    random.chance(0.6)
      ? { _tag: "SettleHold", slot: slot(random), which: 0 }
      : { _tag: "CancelInvoice", slot: slot(random), which: 0 }
  return [
    { ...draws.CreateHold(random), company: 0, isOnce: false },
    { _tag: "Pay", which: 0, how: random.pick(["exact", "more"]), isHeld: false },
    ...(random.chance(0.6) ? [wait(5000)] : []),
    ...(random.chance(0.6)
      ? [
          trapAt(random, [
            "InvoiceHeld",
            "InvoiceSettling",
            "InvoiceCanceled",
            "settle",
            "cancel",
            "lookupInvoice",
            "InvoiceSettled"
          ])
        ]
      : []),
    ...(random.chance(0.2) ? [{ _tag: "TakeAway", port: "node", millis: 20_000 } as const] : []),
    ...(random.chance(0.75) ? [decide()] : [{ _tag: "Mine", blocks: random.pick([55, 56, 60]) } as const]),
    ...(random.chance(0.5) ? [decide()] : []),
    wait(random.pick([1000, 30_000])),
    decide(),
    { _tag: "Jump", millis: random.pick([45_000, 400_000]) },
    wait(5000)
  ]
}

/**
 * An invoice that was settled internally is also paid from outside. The payment is in suspense until two
 * operators assign it.
 */
export const unowned = (random: Random): ReadonlyArray<Act> => [
  { _tag: "LieOnce" },
  { ...draws.CreateInvoice(random), company: 1, isOnce: false, sats: 2100, expirySeconds: 3600 },
  { ...draws.Withdraw(random), company: 0, to: { _tag: "OwnInvoice", which: 0 }, sats: 2100 },
  wait(5000),
  { _tag: "Pay", which: 0, how: "exact", isHeld: false },
  wait(5000),
  ...(random.chance(0.4) ? [trapAt(random, ["PaymentAssigned"])] : []),
  ...Array.from({ length: 3 }, () => ({ ...draws.Assign(random), which: 0 })),
  wait(1000)
]
