import { Context } from "effect"

/** How withdrawals go out on the chain. */
export class PayoutOptions extends Context.Service<
  PayoutOptions,
  {
    /** The batching interval: payouts of one go out in one transaction at its end. 0: each goes at once, by itself. */
    readonly payoutWindowMillis: number
    /** How many of them one transaction pays, at most: below 250. */
    readonly payoutOutputs: number
    /** How many confirmations settle a payout; of one that was replaced, so many that which of the transactions won will not change. */
    readonly payoutConfirmations: number
    readonly replacedConfirmations: number
    /** A payout that settled is looked for, and sent again where a reorganisation took it, until it is this deep. */
    readonly payoutBuriedAt: number
    /**
     * A payout that is in no block `afterMillis` after it was sent is replaced by one at the feerate of the day, for at most `allowances` times what
     * was held for mining. What is above the held is the operator's.
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
