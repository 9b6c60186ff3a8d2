import { type OfferAsk, OfferSender } from "@satrail/core/nodes/OfferSender"
import { Schema } from "effect"
import * as LdkPayments from "./LdkPayments.ts"
import type { LdkSocket } from "./LdkSocket.ts"

type Terms = Omit<OfferAsk, "attempt">

const asked = ({ amount, feeLimit }: Terms) => ({ amount: String(amount), feeLimit: String(feeLimit) })

/** Where the way to an offer's issuer leads that is not blinded. */
const destinations = ({ offer: { introductions, issuerId } }: Terms): ReadonlyArray<string> =>
  introductions.length > 0 || issuerId === undefined ? introductions : [issuerId]

/**
 * Pays offers. The node has each attempt on its disk before LDK hears of it, which is once: one that has ended stays as it is. An issuer that does not answer has
 * failed the attempt within two or three minutes.
 */
export const make = (socket: LdkSocket): OfferSender["Service"] => {
  const payments = LdkPayments.make(socket, "lookupOffer", "attempt")
  return OfferSender.of({
    graceMillis: LdkPayments.graceMillis,
    payOffer: (ask) => payments.pay("payOffer", ask.attempt, { attempt: ask.attempt, offer: ask.offer.offer, ...asked(ask) }),
    lookupOffer: payments.lookup,
    ends: payments.ends("offerEnds", Schema.String),
    quote: (ask) => payments.quote("quoteOffer", { destinations: destinations(ask), ...asked(ask) })
  })
}
