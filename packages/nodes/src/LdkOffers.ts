import { type OfferAsk, OfferSender } from "@satrail/core/nodes/OfferSender"
import { Schema } from "effect"
import * as LdkPayments from "./LdkPayments.ts"
import type { LdkSocket } from "./LdkSocket.ts"

type Terms = Omit<OfferAsk, "attempt">

const asked = ({ amount, feeLimit }: Terms) => ({ amount: String(amount), feeLimit: String(feeLimit) })

/** Returns the introduction nodes of an offer's blinded paths, or its issuer if it has none. */
const destinations = ({ offer: { introductions, issuerId } }: Terms): ReadonlyArray<string> =>
  introductions.length > 0 || issuerId === undefined ? introductions : [issuerId]

/**
 * Pays offers. The node stores each attempt before it passes it to LDK, and passes it only once. Once an
 * attempt is final, it never changes. If an issuer doesn't respond, the attempt fails within two or three
 * minutes.
 */
export const make = (socket: LdkSocket): OfferSender["Service"] => {
  const payments = LdkPayments.make(socket, "lookupOffer", "attempt")
  return OfferSender.of({
    graceMillis: LdkPayments.graceMillis,
    payOffer: (ask) =>
      payments.pay("payOffer", ask.attempt, { attempt: ask.attempt, offer: ask.offer.offer, ...asked(ask) }),
    lookupOffer: payments.lookup,
    ends: payments.ends("offerEnds", Schema.String),
    quote: (ask) => payments.quote("quoteOffer", { destinations: destinations(ask), ...asked(ask) })
  })
}
