import { Effect, Option } from "effect"
import { Installation } from "../accounts/Installation.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import * as OfferSender from "../nodes/OfferSender.ts"
import { IssuedOffers } from "../receiving/IssuedOffers.ts"
import * as Destination from "./Destination.ts"

/**
 * Returns the payment methods supported for the offer in a string. Offers issued by this service are settled
 * internally, whatever the node supports.
 */
export const make = Effect.gen(function* () {
  const issued = yield* IssuedOffers
  const { network } = yield* Installation
  const paysOffers = (yield* OfferSender.available) !== undefined

  return (text: string): Effect.Effect<Destination.Ways, StoreUnavailable> => {
    const bolt12 = paysOffers ? undefined : Destination.offerIn(text, network)
    return bolt12 === undefined
      ? Effect.succeed({ paysOffers })
      : Effect.map(issued.byText(bolt12.offer), (found) => ({ paysOffers: Option.isSome(found) }))
  }
})
