import * as Change from "../../ledger/Change.ts"
import type { Deposit } from "../../receiving/Deposit.ts"

/** Kind of a checkout's expiry job, due when it expires. */
export const expiryKind = "checkout"

/** Kind of the job that counts a deposit toward its checkout. Its id is the deposit's. */
export const paymentKind = "checkout_payment"

/**
 * Kind of the job of a checkout that is being canceled, started when its invoice is canceled. Its id is the
 * invoice's.
 */
export const cancelKind = "checkout_cancel"

export const kinds = [paymentKind, cancelKind, expiryKind] as const

/** Returns the job of a deposit, or none if it pays no checkout. */
export const ofDeposit = ({ id, checkoutId }: Deposit, atMillis: number): ReadonlyArray<Change.Enqueue> =>
  checkoutId === null ? [] : [Change.enqueue({ kind: paymentKind, id, dueAtMillis: atMillis })]

/** Leaves the process that received the request time to cancel the checkout itself. */
const cancelsAfterMillis = 5000

/** Returns the job that cancels the checkout of this invoice. */
export const cancels = (invoiceId: string, atMillis: number): Change.Enqueue =>
  Change.enqueue({ kind: cancelKind, id: invoiceId, dueAtMillis: atMillis + cancelsAfterMillis })
