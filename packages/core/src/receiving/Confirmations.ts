import * as Msat from "@satrail/bitcoin/Msat"
import { Context } from "effect"

/** Settings that decide when an on-chain deposit is credited. */
export class Options extends Context.Service<
  Options,
  {
    /**
     * Confirmations required when the amount at risk is at most `upTo`. The amount at risk is the company's
     * unconfirmed total or the total in the deposit's block, whichever is larger. The last row also applies
     * to larger amounts.
     */
    readonly confirmations: ReadonlyArray<{ readonly upTo: Msat.Msat; readonly confirmations: number }>
    /**
     * Minimum on-chain deposit in msat. A deposit below this minimum, or below the cost of spending it, is
     * recorded but not credited.
     */
    readonly minDeposit: Msat.Msat
    /** Interval between polls of the chain. */
    readonly chainPollMillis: number
  }
>()("@satrail/core/receiving/Confirmations/Options") {}

export const defaults: Options["Service"] = {
  confirmations: [
    { upTo: Msat.fromSats(1_000_000n), confirmations: 2 },
    { upTo: Msat.fromSats(50_000_000n), confirmations: 3 },
    { upTo: Msat.max, confirmations: 6 }
  ],
  minDeposit: Msat.fromSats(600),
  chainPollMillis: 5_000
}

/** Returns the number of confirmations required before a deposit of `amount` is credited. */
export const neededFor = ({ confirmations }: Options["Service"], amount: Msat.Msat): number =>
  (confirmations.find(({ upTo }) => amount <= upTo) ?? confirmations.at(-1))?.confirmations ?? 6
