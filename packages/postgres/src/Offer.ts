import * as Offer from "@satrail/core/receiving/Offer"
import * as Reads from "./Reads.ts"

export const reads = {
  offerByText: Reads.by("Records.offerByText", Offer.noun, ["offer"])
}
