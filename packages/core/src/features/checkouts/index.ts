import * as Traced from "../../base/Traced.ts"
import * as Feature from "../../ledger/Feature.ts"
import * as DepositJobs from "../../receiving/DepositJobs.ts"
import * as Checkout from "./Checkout.ts"
import * as CheckoutJobs from "./CheckoutJobs.ts"
import { notices } from "./CheckoutTold.ts"
import * as Checkouts from "./Checkouts.ts"

/** An amount to be paid, over Lightning or on-chain, on a page of its own. */
export const checkouts = Feature.make({
  name: "checkouts",
  nouns: [Checkout.noun],
  lives: [Checkout.life],
  changes: Feature.changes<Checkout.CheckoutCreated | Checkout.CheckoutCanceled | Checkout.Next>(),
  events: {
    "checkout.paid": "checkouts",
    "checkout.underpaid": "checkouts",
    "checkout.expired": "checkouts",
    "checkout.canceled": "checkouts"
  },
  notices,
  limits: [
    [
      "checkout lifetime, seconds",
      `${Checkout.expirySeconds.minimum} to ${Checkout.expirySeconds.maximum}, ${Checkout.expirySeconds.default} by default`
    ],
    ["part of a checkout's amount that may be missing, percent", `up to ${Checkout.tolerancePercent.maximum}`],
    ["characters of a checkout's order id / of its URLs", `${Checkout.limits.orderIdCharacters} / ${Checkout.limits.urlCharacters}`],
    ["checkouts on a page", `1 to ${Checkouts.limit.maximum}, ${Checkouts.limit.default} by default`]
  ],
  layer: Traced.over(Checkouts.Checkouts, Checkouts.layer),
  workers: Checkouts.layerWorker,
  extensions: DepositJobs.layer(CheckoutJobs.ofDeposit)
})
