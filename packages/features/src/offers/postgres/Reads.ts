import * as IssuedOffer from "../core/IssuedOffer.ts"
import { OfferReads } from "../core/OfferReads.ts"
import { Effect } from "effect"
import * as Reads from "@satrail/postgres/statements/Reads"

const offerByText = Reads.by("Records.offerByText", IssuedOffer.noun, ["offer"])

export const make = Effect.map(Effect.all({ offerByText }), OfferReads.of)
