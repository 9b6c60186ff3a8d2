import type * as Withdrawal from "@satrail/core/sending/Withdrawal"

/** Why a withdrawal failed. */
export interface Failure {
  readonly code: Withdrawal.Failure
  readonly message: string
}
