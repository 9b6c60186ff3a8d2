import type { Settings } from "@satrail/core/service/Policy"
import type { Behaviour } from "@satrail/sandbox/Sandbox"
import { early, stories as ofFeatures } from "./features/index.ts"
import type { Act, To } from "./plot/Operation.ts"
import { company, type Crash, invoice, pay, slot, surely, takenOver, wait } from "./plot/Scenes.ts"
import { settings as usual } from "./Simulation.ts"

/** A short scenario in which every call is a crash point. */
export interface Story extends Crash {
  readonly settings: Settings
}

const mine = (blocks: number): ReadonlyArray<Act> => [{ _tag: "Mine", blocks }, ...takenOver]
const reorg = (depth: number): ReadonlyArray<Act> => [{ _tag: "Reorg", depth }, ...takenOver]
const send: Act = { _tag: "Send", outputs: [{ which: 0, sats: 30_000 }] }
const cancel: Act = { _tag: "CancelInvoice", slot, which: 0 }
const address = (company: number): Act => ({ _tag: "CreateAddress", company, slot, isOnce: true })
const chainAddress: Act = { _tag: "CreateChainAddress", company: 0, slot, isOnce: true, type: "taproot" }

const withdraw = (to: To, sats: number, from = 0): Act => ({
  _tag: "Withdraw",
  company: from,
  slot,
  isOnce: true,
  to,
  sats
})
const toOutside = (behaviour: Behaviour, _tag: "Invoice" | "Address" | "Offer" = "Invoice") =>
  surely(withdraw({ _tag, behaviour }, 1000))
const held = (outcome: "settle" | "fail"): ReadonlyArray<Act> => [
  ...takenOver,
  { _tag: "Release", which: 0, outcome },
  ...takenOver
]

const hold: Act = {
  _tag: "CreateHold",
  company: 0,
  slot,
  isOnce: true,
  sats: 1000,
  expirySeconds: 3600,
  isOwn: false
}
const settle: Act = { _tag: "SettleHold", slot, which: 0 }

const alone = { ...usual, payoutWindowMillis: 0 }
/** Payouts are batched, and replaced after five minutes. */
const together: Settings = {
  ...usual,
  payoutWindowMillis: 60_000,
  replacement: { afterMillis: 300_000, allowances: 3 }
}

const story = (
  before: ReadonlyArray<Act>,
  during: ReadonlyArray<Act>,
  settings: Settings = alone
): Story => ({ settings, before, during })
const payout = withdraw({ _tag: "Chain" }, 20_000)
const payouts = [payout, withdraw({ _tag: "Chain" }, 30_000, 1), withdraw({ _tag: "Chain" }, 40_000)].flatMap(
  surely
)

export const stories: Readonly<Record<string, Story>> = {
  "payment that settles": story(company(5000), toOutside("settle")),
  "payment that fails": story(company(5000), toOutside("fail")),
  "payment that gets no response and settles": story(company(5000), toOutside("unknown_then_settle")),
  "payment that gets no response and fails": story(company(5000), toOutside("unknown_then_fail")),
  "payment that is held and settles": story(company(5000), [...toOutside("hold"), ...held("settle")]),
  "payment that is held and fails": story(company(5000), [...toOutside("hold"), ...held("fail")]),
  "offer payment that settles": story(company(5000), toOutside("settle", "Offer")),
  "offer payment that fails": story(company(5000), toOutside("fail", "Offer")),
  "offer payment that gets no response and settles": story(
    company(5000),
    toOutside("unknown_then_settle", "Offer")
  ),
  "offer payment that is held and settles": story(company(5000), [
    ...toOutside("hold", "Offer"),
    ...held("settle")
  ]),
  "payment to a Lightning address": story(company(5000), toOutside("settle", "Address")),
  "payment of an invoice that we issued": story(
    [...company(), ...company(5000), invoice(1, 1000)],
    surely(withdraw({ _tag: "OwnInvoice", which: 0 }, 1000))
  ),
  "payment of an invoice that we issued and that an external wallet pays first": story(
    [...company(), ...company(5000), invoice(1, 1000)],
    [pay(0, true), ...surely(withdraw({ _tag: "OwnInvoice", which: 0 }, 1000)), ...held("settle")]
  ),
  "payment to a Lightning address of this service": story(
    [...company(), ...company(5000), address(1)],
    surely(withdraw({ _tag: "OwnAddress", which: 0 }, 1000))
  ),
  "on-chain payout": story(company(50_000), [...surely(payout), ...takenOver, ...mine(1), ...mine(1)]),
  "batch of three payouts for two companies": story(
    [...company(50_000), ...company(100_000)],
    [...payouts, ...takenOver, ...mine(1), ...mine(6)],
    together
  ),
  "batch of three payouts that is replaced": story(
    [...company(50_000), ...company(100_000)],
    [
      ...payouts,
      ...takenOver,
      { _tag: "FeeRate", satsPerVbyte: 4 },
      { _tag: "Jump", millis: 300_000 },
      wait(3000),
      ...takenOver,
      ...mine(6),
      ...mine(6)
    ],
    together
  ),
  "hold invoice that is settled": story(
    [...company(), hold, pay(), wait(5000)],
    [settle, wait(1000), settle, ...takenOver]
  ),
  "invoice that is canceled": story(
    [...company(), invoice(0, 1000)],
    [cancel, wait(1000), cancel, ...takenOver, pay(), ...takenOver]
  ),
  "invoice that is canceled while its payment is in flight": story(
    [...company(), invoice(0, 1000), pay(0, true), wait(2000)],
    [cancel, wait(1000), ...held("settle")]
  ),
  "invoice that is paid": story(company(), [...surely(invoice(0, 1000)), pay(), ...takenOver]),
  "invoices whose payments the node reports": story(
    [...company(), ...[1000, 1001, 1002].map((sats) => invoice(0, sats))],
    [pay(2), pay(1), wait(3000), pay(0), ...takenOver]
  ),
  // An invoice settled internally is no longer polled, so only the node's notification shows that it was paid
  // again.
  "second payment of an invoice that the node had reported as closed": story(
    [
      ...company(),
      ...company(5000),
      invoice(1, 1000),
      { _tag: "LieOnce" },
      ...surely(withdraw({ _tag: "OwnInvoice", which: 0 }, 1000)),
      wait(3000)
    ],
    [pay(), ...takenOver]
  ),
  "invoices whose payments are found by polling": story(
    [...company(), invoice(0, 1000), invoice(0, 1001)],
    [{ _tag: "LoseNotice" }, pay(1), { _tag: "LoseNotice" }, pay(0), ...takenOver]
  ),
  "on-chain deposit": story(company(), [...surely(chainAddress), send, ...takenOver, ...mine(1), ...mine(1)]),
  "on-chain deposit that a reorganization removes and the next block confirms again": story(
    [...company(), chainAddress],
    [send, wait(11_000), ...mine(2), ...reorg(2), ...mine(1), ...mine(1)]
  ),
  "on-chain deposit that is partly spent and then double-spent": story(
    [
      ...company(),
      address(0),
      ...company(),
      chainAddress,
      send,
      { _tag: "Mine", blocks: 2 },
      wait(11_000),
      withdraw({ _tag: "OwnAddress", which: 0 }, 20_000),
      wait(3000)
    ],
    [{ _tag: "Reorg", depth: 2 }, { _tag: "DoubleSpend", which: 0 }, ...takenOver, ...mine(1)]
  ),
  ...Object.fromEntries(
    [...early, ...ofFeatures].flatMap(({ crashes }) =>
      Object.entries<Crash>(crashes).map(([name, crash]) => [name, { settings: alone, ...crash }])
    )
  )
}
