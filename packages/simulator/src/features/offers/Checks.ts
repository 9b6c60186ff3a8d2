import { offers as core } from "@satrail/core/features/offers/index"
import * as Feature from "../Feature.ts"
import { acts } from "./Acts.ts"
import * as PaidChecks from "./PaidChecks.ts"
import { stories } from "./Stories.ts"
import { woven } from "./Woven.ts"

export const offers = Feature.make(core)({
  acts,
  stories,
  reading: ["offerByText"],
  weave: woven,
  changes: { OfferCreated: "happens" },
  paid: PaidChecks.make,
  transitions: ["our offer: paid from outside", "our offer: paid from inside"]
})
