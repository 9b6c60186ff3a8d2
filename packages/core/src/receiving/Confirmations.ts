import * as Msat from "@satrail/bitcoin/Msat"
import { Context } from "effect"

/** When an on-chain deposit is credited. */
export class Options extends Context.Service<
  Options,
  {
    /**
     * How many confirmations a deposit needs where what may be taken back with it is at most `upTo`: what its company waits for, or what came in its
     * block, whichever is more. The last row is for all above.
     */
    readonly confirmations: ReadonlyArray<{ readonly upTo: Msat.Msat; readonly confirmations: number }>
    /** An on-chain deposit below this, or below what spending it costs, is recorded and not credited. */
    readonly minDeposit: Msat.Msat
    /** How often the chain is looked at. */
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

/** How many confirmations a deposit of `amount` needs before it is credited. */
export const neededFor = ({ confirmations }: Options["Service"], amount: Msat.Msat): number =>
  (confirmations.find(({ upTo }) => amount <= upTo) ?? confirmations.at(-1))?.confirmations ?? 6
