import { Clock, Effect, Layer, Option } from "effect"
import type { CompanyId } from "@satrail/core/base/CompanyId"
import * as Traced from "@satrail/core/base/Traced"
import * as Feature from "@satrail/core/ledger/Feature"
import { NounReads } from "@satrail/core/ledger/NounReads"
import { AsksForRest } from "@satrail/core/receiving/AsksForRest"
import * as DepositJobs from "@satrail/core/receiving/DepositJobs"
import { DepositsOf } from "@satrail/core/receiving/DepositsOf"
import * as Checkout from "./Checkout.ts"
import * as CheckoutJobs from "./CheckoutJobs.ts"
import { notices } from "./CheckoutNotices.ts"
import { CheckoutReads } from "./CheckoutReads.ts"
import * as Checkouts from "./Checkouts.ts"

const asksForRest = Effect.gen(function* () {
  const [nouns, { arrivedFor }] = [yield* NounReads, yield* CheckoutReads]
  return Effect.fnUntraced(function* (companyId: CompanyId, id: string) {
    const checkout = Option.getOrUndefined(yield* nouns.get(Checkout.noun, companyId, id))
    if (checkout === undefined || (checkout.status !== "open" && checkout.status !== "underpaid"))
      return false
    // Until the expiry is recorded, the node may know of a payment that was made in time.
    return Checkout.standing(checkout, yield* arrivedFor(checkout), yield* Clock.currentTimeMillis) !== "paid"
  })
})

/** Returns the unique name in the URL of a checkout's page. */
const nameIn = (link: string): Pick<Checkout.Checkout, "publicId"> | undefined => {
  const [, publicId] = /\/pay\/([0-9a-f]{32})\b/.exec(link) ?? []
  return publicId === undefined ? undefined : { publicId }
}

/** Requests for payment, over Lightning or on-chain, on a hosted page. */
export const checkouts = Feature.make({
  name: "checkouts",
  nouns: [Checkout.noun],
  lives: [Checkout.life],
  changes: Feature.changes<
    | Checkout.CheckoutCreated
    | Checkout.CheckoutCanceled
    | Checkout.CheckoutRenewed
    | Checkout.CheckoutAnswered
    | Checkout.Next
  >(),
  events: {
    "checkout.paid": "checkouts",
    "checkout.underpaid": "checkouts",
    "checkout.expired": "checkouts",
    "checkout.canceled": "checkouts"
  },
  notices,
  rates: [Feature.rates(Checkout.noun, "checkoutId")],
  describes: [
    Feature.describes(Checkout.noun, {
      by: "checkoutId",
      description: "description",
      orderId: "orderId",
      reference: "publicId",
      email: "payerEmail",
      fiat: "fiatAmount"
    })
  ],
  linked: [Feature.linked(Checkout.noun, nameIn)],
  limits: [
    [
      "checkout lifetime, seconds",
      `${Checkout.expirySeconds.minimum} to ${Checkout.expirySeconds.maximum}, ${Checkout.expirySeconds.default} by default`
    ],
    ["accepted underpayment of a checkout, percent", `up to ${Checkout.tolerancePercent.maximum}`],
    [
      "length of a checkout's order id / of its URLs, characters",
      `${Checkout.limits.orderIdCharacters} / ${Checkout.limits.urlCharacters}`
    ],
    [
      "days during which a checkout can be renewed / changes that its payer can make",
      `${Checkout.renewableMillis / 86_400_000} / ${Checkout.maxChanges}`
    ]
  ],
  reads: CheckoutReads,
  layer: Traced.over(Checkouts.Checkouts, Checkouts.layer),
  workers: Checkouts.layerWorker,
  extensions: Layer.mergeAll(
    DepositJobs.layer(CheckoutJobs.ofDeposit),
    Layer.effect(
      DepositsOf,
      Effect.map(CheckoutReads, ({ depositsFor }) => depositsFor)
    ),
    Layer.effect(AsksForRest, asksForRest)
  )
})
