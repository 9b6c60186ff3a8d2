import * as Change from "../ledger/Change.ts"

/** The job of a checkout: to look what has become of it when its time is over. */
export const taskKind = "checkout"

/** The job of a payment of a checkout: to have the checkout follow it. Its id is the deposit's. */
export const paymentKind = "checkout_payment"

/** What a deposit has to be followed by, if it pays a checkout. */
export const checkoutFollows = (
  { id, checkoutId }: { readonly id: string; readonly checkoutId: string | null },
  atMillis: number
): ReadonlyArray<Change.Enqueue> => (checkoutId === null ? [] : [Change.enqueue({ kind: paymentKind, id, dueAtMillis: atMillis })])
