import * as Change from "../ledger/Change.ts"

/** The job of a deposit that pays a checkout: the checkout counts it. Its id is the deposit's. */
export const taskKind = "checkout_payment"

/** Follow-up work for a checkout's deposit; none if it pays no checkout. */
export const checkoutFollows = (
  { id, checkoutId }: { readonly id: string; readonly checkoutId: string | null },
  atMillis: number
): ReadonlyArray<Change.Enqueue> => (checkoutId === null ? [] : [Change.enqueue({ kind: taskKind, id, dueAtMillis: atMillis })])
