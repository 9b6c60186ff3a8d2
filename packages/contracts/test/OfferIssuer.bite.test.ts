import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { OfferIssuer } from "@satrail/core/nodes/OfferIssuer"
import { Effect, Stream } from "effect"
import { promises } from "../src/nodes/OfferIssuer.ts"
import { bites, sabotage } from "./sandbox.ts"

bites("OfferIssuer", promises, {
  "an issuer that issues a new offer for each call": [
    sabotage(OfferIssuer, ({ createOffer }) => ({
      createOffer: (ask) => createOffer({ ...ask, id: crypto.randomUUID() })
    })),
    ["the same id returns the same offer, and a different id returns a different offer"]
  ],
  "an issuer that returns one offer for all ids": [
    sabotage(OfferIssuer, ({ createOffer }) => ({
      createOffer: (ask) => createOffer({ ...ask, id: "0190d5b0-0000-7000-8000-000000000000" })
    })),
    ["the same id returns the same offer, and a different id returns a different offer"]
  ],
  "an issuer that omits the description": [
    sabotage(OfferIssuer, ({ createOffer }) => ({
      createOffer: (ask) => createOffer({ ...ask, description: "" })
    })),
    ["an offer is for the node's network, has no amount and no expiry, and contains the description"]
  ],
  "an issuer that omits the amount": [
    sabotage(OfferIssuer, ({ createOffer }) => ({
      createOffer: (ask) => createOffer({ ...ask, amount: null })
    })),
    ["an offer with an amount requests that amount"]
  ],
  "an issuer that writes offers in capitals": [
    sabotage(OfferIssuer, ({ createOffer }) => ({
      createOffer: (ask) => Effect.map(createOffer(ask), (offer) => offer.toUpperCase())
    })),
    ["an offer is for the node's network, has no amount and no expiry, and contains the description"]
  ],
  "an issuer that reports the same receipt for all payments": [
    sabotage(LightningReceiver, ({ settlements }) => ({
      settlements: (after) =>
        Stream.map(settlements(after), (one) => ({ ...one, paymentHash: PaymentHash.make("0".repeat(64)) }))
    })),
    ["C60: an offer payment is reported with the offer's id, the amount and a valid preimage"]
  ],
  "an issuer that starts from the first payment, whatever the cursor": [
    sabotage(LightningReceiver, ({ settlements }) => ({ settlements: () => settlements(null) })),
    [
      "two payments to an offer have different hashes, and the second is reported after the first one's cursor"
    ]
  ],
  "an issuer that returns an offer during an outage": [
    sabotage(OfferIssuer, ({ createOffer }) => ({
      createOffer: (ask) => Effect.catchTag(createOffer(ask), "NodeUnavailable", () => Effect.succeed("lno1"))
    })),
    ["if the node does not respond, the request fails as unavailable and no offer is issued"]
  ]
})
