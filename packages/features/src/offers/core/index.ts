import * as Traced from "@satrail/core/base/Traced"
import * as Feature from "@satrail/core/ledger/Feature"
import * as Conversion from "@satrail/core/ledger/Conversion"
import * as IssuedOffer from "./IssuedOffer.ts"
import { OfferReads } from "./OfferReads.ts"
import * as Offers from "./Offers.ts"
import * as OwnOffers from "./OwnOffers.ts"

const tell = Conversion.ofSubject(
  IssuedOffer.noun,
  (record) => ({ kind: "offer", type: "offer.created", record }) as const
)

/** Offers (BOLT 12) that companies issue. Paying them is implemented in `receiving` and `sending`. */
export const offers = Feature.make({
  name: "offers",
  nouns: [IssuedOffer.noun],
  changes: Feature.changes<IssuedOffer.OfferCreated>(),
  events: { "offer.created": "offers" },
  notices: {
    kind: "offer",
    types: ["offer.created"],
    byEvent: { "offer.created": { as: ["offer.created"], convert: tell } }
  },
  reads: OfferReads,
  layer: Traced.over(Offers.Offers, Offers.layer),
  extensions: OwnOffers.layer
})
