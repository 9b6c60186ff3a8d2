import * as Change from "../ledger/Change.ts"

/** Kind of the job that follows the voucher or withdrawal paying a refund. */
export const taskKind = "refund"

/**
 * Returns the refund's job if this record pays a refund. It is due when the record has ended or is about to
 * end.
 */
export const refundEnds = ({ refundId }: { readonly refundId: string | null }, atMillis: number): ReadonlyArray<Change.Enqueue> =>
  refundId === null ? [] : [Change.enqueue({ kind: taskKind, id: refundId, dueAtMillis: atMillis })]
