import * as Msat from "@satrail/bitcoin/Msat"
import { Context, Effect } from "effect"
import { Invalid } from "../base/Invalid.ts"

/** Minimum and maximum amounts of an invoice and of a withdrawal. */
export class Bounds extends Context.Service<
  Bounds,
  { readonly minAmount: Msat.Msat; readonly maxInvoice: Msat.Msat; readonly maxWithdrawal: Msat.Msat }
>()("@satrail/core/accounts/Bounds") {}

export const defaults: Bounds["Service"] = {
  minAmount: Msat.fromSats(1),
  maxInvoice: Msat.fromSats(100_000_000n),
  maxWithdrawal: Msat.fromSats(100_000_000n)
}

/** Checks the minimum and maximum that a payer can be offered. null means no bound. */
export const checkRange = Effect.fnUntraced(function* (
  { min, max }: { readonly min: Msat.Msat | null; readonly max: Msat.Msat | null },
  { minAmount, maxInvoice }: Bounds["Service"]
) {
  const [least, most] = [min ?? minAmount, max ?? maxInvoice]
  const bounds = `between ${Msat.toSats(minAmount)} and ${Msat.toSats(maxInvoice)} sats`
  if (least < minAmount || least > maxInvoice)
    return yield* new Invalid({ path: "min_sats", message: `must be ${bounds}` })
  if (most < least || most > maxInvoice)
    return yield* new Invalid({ path: "max_sats", message: `must be ${bounds}, and not less than min_sats` })
})
