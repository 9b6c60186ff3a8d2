import { Effect, Layer } from "effect"
import { NounReads } from "../../ledger/NounReads.ts"
import { IssuedOffers } from "../../receiving/IssuedOffers.ts"
import * as Offer from "./Offer.ts"
import { OfferReads } from "./OfferReads.ts"

/** Tells the money path whose an offer is that is paid. */
export const layer = Layer.effect(
  IssuedOffers,
  Effect.gen(function* () {
    const nouns = yield* NounReads
    const { offerByText } = yield* OfferReads
    return { byId: (id) => nouns.named(Offer.noun, { id }), byText: offerByText }
  })
)
