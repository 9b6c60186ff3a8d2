import * as IssuedOffer from "./core/IssuedOffer.ts"
import type { OfferReads } from "./core/OfferReads.ts"
import { Option } from "effect"
import type { Read } from "@satrail/memory/Reading"
import * as State from "@satrail/memory/State"

export const make = (read: Read): OfferReads["Service"] => ({
  offerByText: (offer) =>
    read((now) => Option.fromUndefinedOr(State.all(now, IssuedOffer.noun).find((one) => one.offer === offer)))
})
