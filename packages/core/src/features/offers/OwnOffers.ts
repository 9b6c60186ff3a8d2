import { Effect, Layer } from "effect"
import { NounReads } from "../../ledger/NounReads.ts"
import { IssuedOffers } from "../../receiving/IssuedOffers.ts"
import * as IssuedOffer from "./IssuedOffer.ts"
import { OfferReads } from "./OfferReads.ts"

/** Finds the company of a paid offer. */
export const layer = Layer.effect(
  IssuedOffers,
  Effect.gen(function* () {
    const nouns = yield* NounReads
    const { offerByText } = yield* OfferReads
    return { byId: (id) => nouns.named(IssuedOffer.noun, { id }), byText: offerByText }
  })
)
