import * as Change from "../../ledger/Change.ts"
import * as CheckoutTask from "../../receiving/CheckoutTask.ts"

/** The job of a checkout, due when it expires. */
export const expiryKind = "checkout"

/** The job of a checkout that is being canceled, started when its invoice is canceled. Its id is the invoice's. */
export const cancelKind = "checkout_cancel"

export const kinds = [CheckoutTask.taskKind, cancelKind, expiryKind] as const

/** Leaves the process that was asked to cancel it time to do so itself. */
const cancelsAfterMillis = 5000

/** Cancels the checkout of this invoice. */
export const cancels = (invoiceId: string, atMillis: number): Change.Enqueue =>
  Change.enqueue({ kind: cancelKind, id: invoiceId, dueAtMillis: atMillis + cancelsAfterMillis })
