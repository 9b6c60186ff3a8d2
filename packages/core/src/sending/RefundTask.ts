import * as Change from "../ledger/Change.ts"

/** The job of a refund: to look what has become of the voucher or withdrawal that pays it. */
export const taskKind = "refund"

/** What pays a refund, if it is one that does, has ended, or is about to: the refund is looked after from here on. */
export const refundEnds = ({ refundId }: { readonly refundId: string | null }, atMillis: number): ReadonlyArray<Change.Enqueue> =>
  refundId === null ? [] : [Change.enqueue({ kind: taskKind, id: refundId, dueAtMillis: atMillis })]
