import { Schema } from "effect"
import * as Change from "../ledger/Change.ts"
import * as Noun from "../ledger/Noun.ts"

/** Fields of withdrawals and vouchers that name the feature's record that they pay. */
export const members = {
  /** The refund paid by this withdrawal or voucher. */
  refundId: Schema.NullOr(Noun.Id)
}

export const Cause = Schema.Struct(members)
export interface Cause extends Schema.Schema.Type<typeof Cause> {}

/** The fields of a record that pays no other. */
export const none: Cause = { refundId: null }

/** Returns the fields of a record that pays the same one. Omitted fields are null. */
export const of = ({ refundId = null }: Partial<Cause>): Cause => ({ refundId })

/** Returns whether a record pays a feature's record. */
export const isSet = ({ refundId }: Cause): boolean => refundId !== null

/** Kind of the job that updates a refund as its payment progresses. */
export const refundTask = "refund"

/**
 * Returns the job of the record that this one pays. The job is due when this record has become final or is
 * about to.
 */
export const jobs = ({ refundId }: Cause, atMillis: number): ReadonlyArray<Change.Enqueue> =>
  refundId === null ? [] : [Change.enqueue({ kind: refundTask, id: refundId, dueAtMillis: atMillis })]
