import * as Change from "../ledger/Change.ts"

/** The job of a checkout: to look what has become of it when its time is over. */
export const taskKind = "checkout"

/** The job of a payment of a checkout: to have the checkout follow it. Its id is the deposit's. */
export const paymentKind = "checkout_payment"

/** The job of a checkout that is being canceled, from the cancellation of its invoice on. Its id is the invoice's. */
export const cancelKind = "checkout_cancel"

/** Every kind. */
export const kinds = [paymentKind, cancelKind, taskKind] as const

/** Who asked for it does it as a rule, and is done by then. */
const cancelsAfterMillis = 5000

/** The checkout of this invoice is canceled next. */
export const cancels = (invoiceId: string, atMillis: number): Change.Enqueue =>
  Change.enqueue({ kind: cancelKind, id: invoiceId, dueAtMillis: atMillis + cancelsAfterMillis })

/** What a deposit has to be followed by, if it pays a checkout. */
export const checkoutFollows = (
  { id, checkoutId }: { readonly id: string; readonly checkoutId: string | null },
  atMillis: number
): ReadonlyArray<Change.Enqueue> => (checkoutId === null ? [] : [Change.enqueue({ kind: paymentKind, id, dueAtMillis: atMillis })])
