import * as Offer from "@satrail/core/features/offers/Offer"
import type { OfferReads } from "@satrail/core/features/offers/OfferReads"
import { Option } from "effect"
import type { Read } from "../Reading.ts"
import * as State from "../State.ts"

export const make = (read: Read): OfferReads["Service"] => ({
  offerByText: (offer) => read((now) => Option.fromUndefinedOr(State.all(now, Offer.noun).find((one) => one.offer === offer)))
})
