import * as Msat from "@satrail/bitcoin/Msat"
import { Context, Effect } from "effect"
import { Invalid } from "../base/Invalid.ts"

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

/** Whether these are the least and the most that a payer may be asked for. Null: an end that is open. */
export const checkRange = Effect.fnUntraced(function* (
  { min, max }: { readonly min: Msat.Msat | null; readonly max: Msat.Msat | null },
  { minAmount, maxInvoice }: Bounds["Service"]
) {
  const [least, most] = [min ?? minAmount, max ?? maxInvoice]
  const bounds = `from ${Msat.toSats(minAmount)} to ${Msat.toSats(maxInvoice)} sats`
  if (least < minAmount || least > maxInvoice) return yield* new Invalid({ path: "min_sats", message: `A limit is ${bounds}` })
  if (most < least || most > maxInvoice)
    return yield* new Invalid({ path: "max_sats", message: `A limit is ${bounds}, and the most is not below the least` })
})
