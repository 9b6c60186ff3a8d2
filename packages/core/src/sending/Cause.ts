import { Schema } from "effect"
import * as Change from "../ledger/Change.ts"
import * as Noun from "../ledger/Noun.ts"

/** Fields of withdrawals and vouchers that identify the feature's record they pay. */
export const members = {
  /** The refund paid by this withdrawal or voucher. */
  refundId: Schema.NullOr(Noun.Id)
}

export const Cause = Schema.Struct(members)
export interface Cause extends Schema.Schema.Type<typeof Cause> {}

/** For records that do not pay a feature's record. */
export const none: Cause = { refundId: null }

/** Copies these fields from a record. Omitted fields are null. */
export const of = ({ refundId = null }: Partial<Cause>): Cause => ({ refundId })

/** Returns whether a record pays a feature's record. */
export const isSet = ({ refundId }: Cause): boolean => refundId !== null

/** Kind of the job that updates a refund as its payment progresses. */
export const refundTask = "refund"

/**
 * Returns the job of the record that is being paid. The job is due when the payment has become final or is
 * about to.
 */
export const jobs = ({ refundId }: Cause, atMillis: number): ReadonlyArray<Change.Enqueue> =>
  refundId === null ? [] : [Change.enqueue({ kind: refundTask, id: refundId, dueAtMillis: atMillis })]
