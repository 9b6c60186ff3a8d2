import { OfferIssuer } from "@satrail/core/nodes/OfferIssuer"
import { Effect, Schema } from "effect"
import { type LdkSocket, unavailable } from "./LdkSocket.ts"

const Made = Schema.Struct({ offer: Schema.String })

/**
 * Issues offers. LDK itself responds to their invoice requests and accepts their payments. The node writes each
 * payment to disk before LDK forgets it.
 */
export const make = ({ ask }: LdkSocket): OfferIssuer["Service"] =>
  OfferIssuer.of({
    createOffer: ({ amount, ...offer }) =>
      ask("createOffer", { ...offer, amount: amount === null ? null : String(amount) }, Made).pipe(
        Effect.catchTag("Refused", unavailable("createOffer")),
        Effect.map(({ offer }) => offer)
      )
  })
