import { Effect, Layer } from "effect"
import { NounReads } from "@satrail/core/ledger/NounReads"
import { IssuedOffers } from "@satrail/core/receiving/IssuedOffers"
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
