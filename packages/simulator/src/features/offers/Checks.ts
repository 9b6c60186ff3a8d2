import { offers as core } from "@satrail/core/features/offers/index"
import * as Feature from "../Feature.ts"

export const offers = Feature.make(core)({
  changes: { OfferCreated: "happens" },
  transitions: ["offer of ours: paid from outside", "offer of ours: paid from inside"]
})
