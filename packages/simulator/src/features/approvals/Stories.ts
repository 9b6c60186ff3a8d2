import type { Random } from "@satrail/testing/Random"
import { draws, spend } from "../../plot/Draw.ts"
import type { Act } from "../../plot/Operation.ts"
import { company, slot, surely, takenOver, trapAt, wait } from "../../plot/Scenes.ts"
import type { Stories } from "../Feature.ts"
import { aboveSats } from "./Plot.ts"

/**
 * Withdrawals wait for another key. That key approves or rejects them, possibly several times concurrently, or
 * does nothing, while processes die and time passes.
 */
const approving = (random: Random): ReadonlyArray<Act> => {
  const limit: Act = { ...draws.Limit(random), company: 0, sats: null, count: null, others: aboveSats(500) }
  const decide = (): Act => ({ ...draws.Decide(random), which: random.below(2) })
  const ask = (): Act =>
    random.chance(0.8)
      ? { ...draws.Withdraw(random), company: 0, sats: random.pick([1000, 5000]) }
      : spend(random, 1000)
  return [
    limit,
    ...(random.chance(0.5)
      ? [
          trapAt(random, [
            "WithdrawalRequested",
            "WithdrawalApproved",
            "WithdrawalRejected",
            "WithdrawalDispatched",
            "WithdrawalFailed"
          ])
        ]
      : []),
    ...Array.from({ length: random.between(1, 3) }, ask),
    wait(random.pick([0, 1000])),
    ...Array.from({ length: random.between(0, 3) }, decide),
    ...(random.chance(0.4)
      ? [{ _tag: "Jump", millis: random.pick([60_000, 3_600_000, 86_400_000]) } as const]
      : []),
    decide(),
    wait(2000),
    decide(),
    { ...limit, others: {} }
  ]
}

const threshold: Act = {
  _tag: "Limit",
  company: 0,
  slot,
  whose: "key",
  window: "day_sats",
  sats: null,
  count: null,
  others: aboveSats(500)
}
const payment: Act = {
  _tag: "Withdraw",
  company: 0,
  slot,
  isOnce: true,
  to: { _tag: "Invoice", behaviour: "settle" },
  sats: 1000
}

const decided = (how: "approve" | "reject") => {
  const act: Act = { _tag: "Decide", slot, which: 0, by: "another", how }
  return {
    before: [...company(5000), threshold],
    during: [...surely(payment), act, wait(1000), act, ...takenOver]
  }
}

export const stories: Stories = {
  recipes: [approving, approving],
  crashes: {
    "payment that another key approves": decided("approve"),
    "payment that another key rejects": decided("reject")
  }
}
