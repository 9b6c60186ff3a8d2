import * as Change from "@satrail/core/ledger/Change"
import type { Deposit } from "@satrail/core/receiving/Deposit"

/** Kind of a checkout's expiry job, which is due when the checkout expires. */
export const expiryKind = "checkout"

/** Kind of the job that counts a deposit toward its checkout. The job has the same id as the deposit. */
export const paymentKind = "checkout_payment"

/**
 * Kind of the job that cancels a checkout, enqueued when its invoice is canceled for that purpose. The job has the
 * same id as the checkout's on-chain address.
 */
export const cancelKind = "checkout_cancel"

export const kinds = [paymentKind, cancelKind, expiryKind] as const

/** Returns the job of a deposit, or none if the deposit pays no checkout. */
export const ofDeposit = ({ id, checkoutId }: Deposit, atMillis: number): ReadonlyArray<Change.Enqueue> =>
  checkoutId === null ? [] : [Change.enqueue({ kind: paymentKind, id, dueAtMillis: atMillis })]

/** Gives the process that received the request enough time to cancel the checkout itself. */
const cancelsAfterMillis = 5000

/** Returns the job that cancels the checkout with this address. */
export const cancels = (onChainAddressId: string, atMillis: number): Change.Enqueue =>
  Change.enqueue({ kind: cancelKind, id: onChainAddressId, dueAtMillis: atMillis + cancelsAfterMillis })
