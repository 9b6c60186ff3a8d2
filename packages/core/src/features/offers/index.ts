import { Effect, Option } from "effect"
import * as Traced from "../../base/Traced.ts"
import * as Feature from "../../ledger/Feature.ts"
import type { Published } from "../../ledger/LedgerReads.ts"
import { NounReads } from "../../ledger/NounReads.ts"
import * as IssuedOffer from "./IssuedOffer.ts"
import { OfferReads } from "./OfferReads.ts"
import * as Offers from "./Offers.ts"
import * as OwnOffers from "./OwnOffers.ts"

const created = Effect.fnUntraced(function* ({ companyId, subject }: Published) {
  const found = yield* (yield* NounReads).get(IssuedOffer.noun, companyId, subject)
  return Option.toArray(Option.map(found, (record) => ({ kind: "offer", type: "offer.created", record }) as const))
})

/** Offers (BOLT 12) that companies issue. Paying them is implemented in `receiving` and `sending`. */
export const offers = Feature.make({
  name: "offers",
  nouns: [IssuedOffer.noun],
  changes: Feature.changes<IssuedOffer.OfferCreated>(),
  events: { "offer.created": "offers" },
  notices: { kind: "offer", types: ["offer.created"], told: { "offer.created": { as: ["offer.created"], tell: created } } },
  reads: OfferReads,
  layer: Traced.over(Offers.Offers, Offers.layer),
  extensions: OwnOffers.layer
})
