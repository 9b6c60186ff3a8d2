import type { Random } from "@satrail/testing/Random"
import { draws, late, spend, when } from "../../plot/Draw.ts"
import type { Act } from "../../plot/Operation.ts"
import { company, invoice, pay, slot, surely, takenOver, wait } from "../../plot/Scenes.ts"
import type { Fate } from "../../world/Fault.ts"
import type { Stories } from "../Feature.ts"

const endpoint: Act = { _tag: "CreateEndpoint", company: 0, slot, which: 3 }
const webhook = (what: "test" | "rotate" | "resend" | "disable" | "enable"): Act => ({
  _tag: "Webhook",
  slot,
  which: 0,
  what
})
const receives = (behaviour: "closes_before" | "closes_after", times: number): Act => ({
  _tag: "Receive",
  which: 0,
  behaviour,
  times
})
const withdraw: Act = {
  _tag: "Withdraw",
  company: 0,
  slot,
  isOnce: true,
  to: { _tag: "Invoice", behaviour: "settle" },
  sats: 1000
}

/**
 * A webhook doesn't arrive, or its arrival isn't recorded. A process dies between sending and recording, the
 * server fails, or the server's owner replays events.
 */
const undelivered = (random: Random): ReadonlyArray<Act> => {
  const fate: Fate = random.pick<Fate>([
    { _tag: "dies", when: when(random), backAfterMillis: 0 },
    { _tag: "unanswered", when: when(random) },
    { _tag: "stray", millis: late(random) },
    { _tag: "frozen", when: when(random), millis: random.pick([45_000, 300_000]) }
  ])
  const call = random.pick([
    "post",
    "post",
    "DeliveryMade",
    "DeliveryTried",
    "EndpointProgressed",
    "EndpointDisabled",
    "storePublicEvents"
  ])
  return [
    ...(random.chance(0.3) ? [draws.CreateEndpoint(random)] : []),
    draws.Receive(random),
    { _tag: "Lay", trap: { process: null, port: null, call, skips: random.below(3), fate } },
    random.pick([draws.Pay, draws.Withdraw, (random: Random) => spend(random, 1000), draws.CreateInvoice])(
      random
    ),
    { _tag: "Wait", millis: random.pick([100, 2000, 10_000]) },
    ...(random.chance(0.5) ? [draws.Webhook(random)] : []),
    ...(random.chance(0.5) ? [draws.Withdraw(random)] : []),
    { _tag: "Jump", millis: random.pick([10_000, 45_000, 400_000, 90_000_000]) },
    { _tag: "Wait", millis: 5000 }
  ]
}

export const stories: Stories = {
  isEarly: true,
  recipes: [undelivered, undelivered, undelivered],
  crashes: {
    "webhooks of a payment": {
      callsCustomers: true,
      before: [...company(), endpoint, invoice(0, 1000), wait(2000)],
      during: [pay(), ...takenOver]
    },
    "webhooks whose server fails twice": {
      callsCustomers: true,
      before: [...company(5000), endpoint, wait(2000), receives("closes_before", 2)],
      during: [...surely(withdraw), ...takenOver, { _tag: "Jump", millis: 400_000 }, wait(3000)]
    },
    "webhooks that their owner requests again": {
      callsCustomers: true,
      before: [...company(), endpoint, invoice(0, 1000), webhook("test"), wait(2000)],
      during: [
        receives("closes_after", 1),
        webhook("rotate"),
        webhook("resend"),
        webhook("disable"),
        pay(),
        wait(8000),
        webhook("enable"),
        ...takenOver
      ]
    }
  }
}
