import * as IssuedOffer from "@satrail/core/features/offers/IssuedOffer"
import type { OfferReads } from "@satrail/core/features/offers/OfferReads"
import { Option } from "effect"
import type { Read } from "../Reading.ts"
import * as State from "../State.ts"

export const make = (read: Read): OfferReads["Service"] => ({
  offerByText: (offer) => read((now) => Option.fromUndefinedOr(State.all(now, IssuedOffer.noun).find((one) => one.offer === offer)))
})
