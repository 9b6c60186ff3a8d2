import * as Traced from "@satrail/core/base/Traced"
import * as Feature from "@satrail/core/ledger/Feature"
import * as Telling from "@satrail/core/ledger/Telling"
import * as IssuedOffer from "./IssuedOffer.ts"
import { OfferReads } from "./OfferReads.ts"
import * as Offers from "./Offers.ts"
import * as OwnOffers from "./OwnOffers.ts"

const tell = Telling.ofSubject(IssuedOffer.noun, (record) => ({ kind: "offer", type: "offer.created", record }) as const)

/** Offers (BOLT 12) that companies issue. Paying them is implemented in `receiving` and `sending`. */
export const offers = Feature.make({
  name: "offers",
  nouns: [IssuedOffer.noun],
  changes: Feature.changes<IssuedOffer.OfferCreated>(),
  events: { "offer.created": "offers" },
  notices: { kind: "offer", types: ["offer.created"], told: { "offer.created": { as: ["offer.created"], tell } } },
  reads: OfferReads,
  layer: Traced.over(Offers.Offers, Offers.layer),
  extensions: OwnOffers.layer
})
