import * as Offer from "@satrail/core/receiving/Offer"
import * as Reads from "../statements/Reads.ts"

export const reads = {
  offerByText: Reads.by("Records.offerByText", Offer.noun, ["offer"])
}
