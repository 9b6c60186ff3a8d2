import * as Change from "../../ledger/Change.ts"
import type { Deposit } from "../../receiving/Deposit.ts"

/** The job of a checkout, due when it expires. */
export const expiryKind = "checkout"

/** The job of a deposit that pays a checkout: the checkout counts it. Its id is the deposit's. */
export const paymentKind = "checkout_payment"

/** The job of a checkout that is being canceled, started when its invoice is canceled. Its id is the invoice's. */
export const cancelKind = "checkout_cancel"

export const kinds = [paymentKind, cancelKind, expiryKind] as const

/** The job of a deposit; none if it pays no checkout. */
export const ofDeposit = ({ id, checkoutId }: Deposit, atMillis: number): ReadonlyArray<Change.Enqueue> =>
  checkoutId === null ? [] : [Change.enqueue({ kind: paymentKind, id, dueAtMillis: atMillis })]

/** Leaves the process that was asked to cancel it time to do so itself. */
const cancelsAfterMillis = 5000

/** Cancels the checkout of this invoice. */
export const cancels = (invoiceId: string, atMillis: number): Change.Enqueue =>
  Change.enqueue({ kind: cancelKind, id: invoiceId, dueAtMillis: atMillis + cancelsAfterMillis })
