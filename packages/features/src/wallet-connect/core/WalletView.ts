import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Nip44 from "@satrail/bitcoin/Nip44"
import { Result } from "effect"
import * as Metadata from "@satrail/core/base/Metadata"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"

// Invoices and withdrawals in the form sent to apps: amounts in msat, times in seconds since 1970.

/** Maximum size of a message's payments, in bytes of JSON. The rest of the encrypted text has less than 500. */
export const maxBytes = Nip44.maxBytes - 500

const bytesOf = (value: object): number => new TextEncoder().encode(JSON.stringify(value)).length

/** Returns a payment without its metadata if it is larger than this. */
const within = <A extends { readonly metadata: Metadata.Metadata }>(bytes: number, payment: A) =>
  bytesOf(payment) <= bytes ? payment : { ...payment, metadata: Metadata.empty }

/**
 * Returns the payments that fit into one message. If they don't fit together, the largest are shown without their
 * metadata, because an app can take a short list for the end. The list ends early if their invoices are too long.
 */
export const fitting = <A extends { readonly metadata: Metadata.Metadata }>(payments: ReadonlyArray<A>) => {
  const each = bytesOf(payments) <= maxBytes ? maxBytes : maxBytes / payments.length
  let left = maxBytes
  return payments
    .map((payment) => within(each, payment))
    .filter((payment) => (left -= bytesOf(payment) + 1) >= 0)
}

const seconds = (millis: number): number => Math.floor(millis / 1000)
const states = {
  open: "pending",
  accepted: "accepted",
  settled: "settled",
  expired: "expired",
  canceled: "failed"
} as const

/** Returns an invoice. Its preimage is shown only to the app whose key created it. */
export const incoming = (invoice: Invoice.Invoice, apiKeyId: string, nowMillis: number) => {
  const state = states[Invoice.standing(invoice, nowMillis)]
  return within(maxBytes, {
    type: "incoming",
    state,
    invoice: invoice.paymentRequest,
    description: invoice.memo,
    payment_hash: invoice.paymentHash,
    ...(state === "settled" &&
      invoice.preimage !== null &&
      invoice.apiKeyId === apiKeyId && { preimage: invoice.preimage }),
    amount: Number(invoice.received ?? invoice.amount ?? Msat.zero),
    fees_paid: 0,
    created_at: seconds(invoice.createdAtMillis),
    expires_at: seconds(invoice.expiresAtMillis),
    ...(invoice.settledAtMillis !== null && { settled_at: seconds(invoice.settledAtMillis) }),
    metadata: invoice.metadata
  })
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
  return within(maxBytes, {
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
  })
}
