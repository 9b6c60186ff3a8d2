import { offers as core } from "@satrail/features/offers/core"
import * as Feature from "../Feature.ts"
import { acts } from "./Acts.ts"
import * as PaidChecks from "./PaidChecks.ts"
import { stories } from "./Stories.ts"
import { injected } from "./Injected.ts"

export const offers = Feature.make(core)({
  acts,
  stories,
  reading: ["offerByText"],
  inject: injected,
  changes: { OfferCreated: "happens" },
  paid: PaidChecks.make,
  transitions: ["our offer: paid from outside", "our offer: paid from inside"]
})
