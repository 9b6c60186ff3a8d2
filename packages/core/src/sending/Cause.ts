import { Schema } from "effect"
import * as Change from "../ledger/Change.ts"
import * as Noun from "../ledger/Noun.ts"

/** Members of withdrawals and vouchers that refer to the feature's record that they pay. */
export const members = {
  /** The refund paid by this withdrawal or voucher. */
  refundId: Schema.NullOr(Noun.Id)
}

export const Cause = Schema.Struct(members)
export interface Cause extends Schema.Schema.Type<typeof Cause> {}

/** The members of a record that pays no other. */
export const none: Cause = { refundId: null }

/** Returns the members for a record that pays the same one. Omitted members are null. */
export const of = ({ refundId = null }: Partial<Cause>): Cause => ({ refundId })

/** Returns whether a record pays that of a feature. */
export const isSet = ({ refundId }: Cause): boolean => refundId !== null

/** Kind of the job that follows the payment of a refund. */
export const refundTask = "refund"

/** Returns the job of the record that this one pays. It is due when this one has ended or is about to end. */
export const jobs = ({ refundId }: Cause, atMillis: number): ReadonlyArray<Change.Enqueue> =>
  refundId === null ? [] : [Change.enqueue({ kind: refundTask, id: refundId, dueAtMillis: atMillis })]
