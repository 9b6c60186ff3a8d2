import * as Msat from "@satrail/bitcoin/Msat"
import { Context } from "effect"

/** The smallest and the largest amount of one invoice, and of one withdrawal. */
export class Bounds extends Context.Service<
  Bounds,
  { readonly minAmount: Msat.Msat; readonly maxInvoice: Msat.Msat; readonly maxWithdrawal: Msat.Msat }
>()("@satrail/core/accounts/Bounds") {}

export const defaults: Bounds["Service"] = {
  minAmount: Msat.fromSats(1),
  maxInvoice: Msat.fromSats(100_000_000n),
  maxWithdrawal: Msat.fromSats(100_000_000n)
}
