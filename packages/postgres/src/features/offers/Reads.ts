import * as Offer from "@satrail/core/features/offers/Offer"
import { OfferReads } from "@satrail/core/features/offers/OfferReads"
import { Effect } from "effect"
import * as Reads from "../../statements/Reads.ts"

const offerByText = Reads.by("Records.offerByText", Offer.noun, ["offer"])

export const make = Effect.gen(function* () {
  return OfferReads.of({ offerByText: yield* offerByText })
})
