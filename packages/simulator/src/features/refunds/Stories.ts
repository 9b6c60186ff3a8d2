import type { Random } from "@satrail/testing/Random"
import { draws } from "../../plot/Draw.ts"
import type { Act, To } from "../../plot/Operation.ts"
import { company, slot, surely, takenOver, trapAt, wait } from "../../plot/Scenes.ts"
import type { Stories } from "../Feature.ts"
import { claim } from "../vouchers/Stories.ts"

/**
 * A deposit is refunded several times concurrently, by different processes, and a reorganization may remove it.
 */
const refunding = (random: Random): ReadonlyArray<Act> => {
  const isOnChain = random.chance(0.5)
  const refund = (): Act => ({ ...draws.Refund(random), company: 0, of: "deposit", which: 0 })
  return [
    ...(isOnChain
      ? ([
          { ...draws.CreateChainAddress(random), isOnce: false, company: 0 },
          { _tag: "Send", outputs: [{ which: 0, sats: 50_000 }] },
          { _tag: "Mine", blocks: 3 },
          wait(11_000)
        ] as const)
      : ([
          { ...draws.CreateInvoice(random), company: 0, sats: 20_000 },
          { ...draws.Pay(random), which: 0, isHeld: false },
          wait(2000)
        ] as const)),
    ...(random.chance(0.5)
      ? [
          trapAt(random, [
            "RefundCreated",
            "RefundCompleted",
            "RefundFailed",
            "VoucherClaimed",
            "WithdrawalFailed"
          ])
        ]
      : []),
    ...Array.from({ length: random.between(1, 4) }, refund),
    ...(random.chance(0.6) ? [{ ...draws.ClaimVoucher(random), which: 0 }] : []),
    ...(random.chance(0.2) ? [{ ...draws.CancelRefund(random), which: 0 }] : []),
    ...(isOnChain && random.chance(0.6)
      ? [{ _tag: "Reorg", depth: 3 } as const, refund(), wait(11_000)]
      : []),
    ...(isOnChain && random.chance(0.4) ? [{ _tag: "DoubleSpend", which: 0 } as const] : []),
    { _tag: "Mine", blocks: 3 },
    { _tag: "Jump", millis: random.pick([10_000, 120_000, 90_000_000]) },
    wait(5000),
    refund()
  ]
}

const refund = (to: To | null): ReadonlyArray<Act> =>
  surely({ _tag: "Refund", company: 0, slot, isOnce: true, of: "invoice", which: 0, sats: 1000, to })

const failing = { ...claim, behaviour: "fail" } as const

export const stories: Stories = {
  recipes: [refunding, refunding],
  crashes: {
    "refund of an invoice to its payer": {
      before: company(5000),
      during: [...refund({ _tag: "Invoice", behaviour: "settle" }), ...takenOver]
    },
    "refund of an invoice by a link, with a failing payment": {
      before: company(5000),
      during: [...refund(null), failing, wait(1000), failing, ...takenOver]
    }
  }
}
