import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { type Ask, LightningSender } from "@satrail/core/nodes/LightningSender"
import * as LdkPayments from "./LdkPayments.ts"
import type { LdkSocket } from "./LdkSocket.ts"

const asked = ({ invoice, amount, feeLimit }: Ask) => ({
  request: invoice.paymentRequest,
  amount: String(amount),
  feeLimit: String(feeLimit)
})

/**
 * Sends payments. The node stores each payment before it sends it, and never pays the same hash again while
 * that payment is pending or settled.
 */
export const make = (socket: LdkSocket): LightningSender["Service"] => {
  const payments = LdkPayments.make(socket, "lookupPayment", "hash")
  return LightningSender.of({
    graceMillis: LdkPayments.graceMillis,
    pay: (ask) => payments.pay("pay", ask.invoice.paymentHash, asked(ask)),
    lookupPayment: payments.lookup,
    ends: payments.ends("ends", PaymentHash.PaymentHash),
    quote: (ask) => payments.quote("quote", asked(ask))
  })
}
