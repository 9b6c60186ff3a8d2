import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { Result } from "effect"
import * as Invoice from "../../receiving/Invoice.ts"
import * as Withdrawal from "../../sending/Withdrawal.ts"

// Invoices and withdrawals in the form sent to apps: amounts in msat, times in seconds since 1970.

const seconds = (millis: number): number => Math.floor(millis / 1000)
const states = { open: "pending", accepted: "accepted", settled: "settled", expired: "expired", canceled: "failed" } as const

/** Returns an invoice. Its preimage is shown only to the app whose key created it. */
export const incoming = (invoice: Invoice.Invoice, apiKeyId: string, nowMillis: number) => {
  const state = states[Invoice.standing(invoice, nowMillis)]
  return {
    type: "incoming",
    state,
    invoice: invoice.paymentRequest,
    description: invoice.memo,
    payment_hash: invoice.paymentHash,
    ...(state === "settled" && invoice.preimage !== null && invoice.apiKeyId === apiKeyId && { preimage: invoice.preimage }),
    amount: Number(invoice.received ?? invoice.amount ?? Msat.zero),
    fees_paid: 0,
    created_at: seconds(invoice.createdAtMillis),
    expires_at: seconds(invoice.expiresAtMillis),
    ...(invoice.settledAtMillis !== null && { settled_at: seconds(invoice.settledAtMillis) }),
    metadata: invoice.metadata
  }
}

/**
 * Returns a Lightning withdrawal with the fee charged to its company, regardless of the route's cost. Returns
 * undefined until the invoice that it pays is known.
 */
export const outgoing = (withdrawal: Withdrawal.Withdrawal) => {
  const invoice = withdrawal.paymentRequest ?? withdrawal.recipient
  const bolt11 = Bolt11.decode(invoice)
  if (Result.isFailure(bolt11)) return undefined
  const { paymentHash, description } = bolt11.success
  const isSettled = withdrawal.status === "settled"
  return {
    type: "outgoing",
    state: withdrawal.status,
    invoice,
    ...(description !== undefined && { description }),
    payment_hash: paymentHash,
    ...(withdrawal.preimage !== null && { preimage: withdrawal.preimage }),
    amount: Number(withdrawal.amount),
    fees_paid: isSettled ? Number(Withdrawal.fee(withdrawal)) : 0,
    created_at: seconds(withdrawal.createdAtMillis),
    expires_at: Bolt11.expiresAtSeconds(bolt11.success),
    ...(isSettled && { settled_at: seconds(withdrawal.updatedAtMillis) }),
    metadata: withdrawal.metadata
  }
}
