/** The payment details that a payer can choose from. */
export interface Asking {
  /** A payment URI for any wallet (BIP 21). */
  readonly uri: string
  /** BOLT 11. */
  readonly invoice: string | null
  readonly address: string | null
  /** The amount still due in whole satoshis, or null if the payer decides. */
  readonly sats: number | null
}

/** A refund to the payer. The checkout page shows how to claim it. */
export interface Refund {
  readonly sats: number
  readonly status: "open" | "pending" | "completed"
}

/** A checkout as shown to its payer. Amounts are whole satoshis. */
export interface CheckoutState {
  readonly status: "open" | "underpaid" | "paid" | "expired" | "canceled"
  /** Null if nothing can be paid now. */
  readonly asking: Asking | null
  readonly receivedSats: number
  /** Amount seen on-chain but not yet confirmed. */
  readonly pendingSats: number
  readonly confirmations: { readonly seen: number; readonly needed: number } | null
  /** Amount received in excess of the amount due. */
  readonly overSats: number
  readonly isLate: boolean
  /** True if it expired and its page offers the payer a new quote. */
  readonly isRenewable: boolean
  /**
   * `due` while its page asks the payer for a tip or an email address, `answered` while the answer can be changed.
   * Null if there is nothing to ask.
   */
  readonly questions: "due" | "answered" | null
  /** Newest first. */
  readonly refunds: ReadonlyArray<Refund>
  readonly paidAtMillis: number | null
  readonly expiresAtMillis: number
  /** The server's current time. */
  readonly nowMillis: number
}

/**
 * Returns whether the state is final: the checkout is paid and no refund is due. Any other checkout can still
 * receive a payment. `paidAtMillis` is set shortly after the payment is credited, and the state is not final
 * before that.
 */
export const isFinal = ({ status, paidAtMillis, refunds, overSats, isLate }: CheckoutState): boolean =>
  status === "paid" &&
  paidAtMillis !== null &&
  (refunds.length > 0 || !(isLate || overSats > 0)) &&
  refunds.every((refund) => refund.status === "completed")
