import { Context } from "effect"

/** Settings for on-chain withdrawals. */
export class PayoutOptions extends Context.Service<
  PayoutOptions,
  {
    /**
     * Batching interval. Payouts confirmed within one interval share a transaction at its end. 0 sends each
     * payout immediately and alone.
     */
    readonly payoutWindowMillis: number
    /** Maximum number of payouts in one transaction, below 250. */
    readonly payoutOutputs: number
    /**
     * Confirmations that settle a payout. A replaced payout needs `replacedConfirmations`, so that the
     * winning transaction can no longer change.
     */
    readonly payoutConfirmations: number
    readonly replacedConfirmations: number
    /**
     * Number of confirmations up to which a settled payout is still watched. It is broadcast again if a
     * reorganization removes it.
     */
    readonly payoutBuriedAt: number
    /**
     * A payout that is unconfirmed `afterMillis` after it was sent is replaced at the current fee rate. The
     * fee is at most `allowances` times the mining allowance held, or times the minimum fee of its transaction
     * if that is more. The operator bears the part above the allowance.
     */
    readonly replacement: { readonly afterMillis: number; readonly allowances: number }
  }
>()("@satrail/core/sending/PayoutOptions") {}

export const defaults: PayoutOptions["Service"] = {
  payoutWindowMillis: 0,
  payoutOutputs: 100,
  payoutConfirmations: 1,
  replacedConfirmations: 6,
  payoutBuriedAt: 100,
  replacement: { afterMillis: 30 * 60_000, allowances: 3 }
}
