import * as IssuedOffer from "@satrail/core/features/offers/IssuedOffer"
import { OfferReads } from "@satrail/core/features/offers/OfferReads"
import { Effect } from "effect"
import * as Reads from "../../statements/Reads.ts"

const offerByText = Reads.by("Records.offerByText", IssuedOffer.noun, ["offer"])

export const make = Effect.map(Effect.all({ offerByText }), OfferReads.of)
