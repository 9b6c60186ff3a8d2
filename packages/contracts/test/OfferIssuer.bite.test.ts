import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { OfferIssuer } from "@satrail/core/nodes/OfferIssuer"
import { Effect, Stream } from "effect"
import { promises } from "../src/OfferIssuer.ts"
import { bites, sabotage } from "./sandbox.ts"

bites("OfferIssuer", promises, {
  "one that issues a new offer each time": [
    sabotage(OfferIssuer, ({ createOffer }) => ({ createOffer: (ask) => createOffer({ ...ask, id: crypto.randomUUID() }) })),
    ["the same id is the same offer, and another id another one"]
  ],
  "one that has one offer for all": [
    sabotage(OfferIssuer, ({ createOffer }) => ({
      createOffer: (ask) => createOffer({ ...ask, id: "0190d5b0-0000-7000-8000-000000000000" })
    })),
    ["the same id is the same offer, and another id another one"]
  ],
  "one that does not say what it is for": [
    sabotage(OfferIssuer, ({ createOffer }) => ({ createOffer: (ask) => createOffer({ ...ask, description: "" }) })),
    ["an offer is of the node's network, without an amount and without an end, and says what it is for"]
  ],
  "one that leaves the amount to the payer": [
    sabotage(OfferIssuer, ({ createOffer }) => ({ createOffer: (ask) => createOffer({ ...ask, amount: null }) })),
    ["an offer with an amount asks for it"]
  ],
  "one that writes it in capitals": [
    sabotage(OfferIssuer, ({ createOffer }) => ({ createOffer: (ask) => Effect.map(createOffer(ask), (offer) => offer.toUpperCase()) })),
    ["an offer is of the node's network, without an amount and without an end, and says what it is for"]
  ],
  "one that takes every receipt for the same": [
    sabotage(LightningReceiver, ({ settlements }) => ({
      settlements: (after) => Stream.map(settlements(after), (one) => ({ ...one, paymentHash: PaymentHash.make("0".repeat(64)) }))
    })),
    ["C60: a payment of an offer is told with the offer's id, what arrived, and a preimage that proves its hash"]
  ],
  "one that begins again from the first": [
    sabotage(LightningReceiver, ({ settlements }) => ({ settlements: () => settlements(null) })),
    ["two payments of an offer have hashes of their own, and the second is told after the first's place"]
  ],
  "one that takes an outage for an offer": [
    sabotage(OfferIssuer, ({ createOffer }) => ({
      createOffer: (ask) => Effect.catchTag(createOffer(ask), "NodeUnavailable", () => Effect.succeed("lno1"))
    })),
    ["a node that does not answer issues nothing, which is an outage"]
  ]
})
