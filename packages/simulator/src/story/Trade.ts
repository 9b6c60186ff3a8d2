import * as Preimage from "@satrail/bitcoin/Preimage"
import * as Id from "@satrail/core/base/Id"
import type { World } from "../world/World.ts"
import type { Customers } from "./Customers.ts"
import { text } from "./Json.ts"
import { type Acts, latest, type Made } from "./Made.ts"
import { paths, posting, sats } from "./Requests.ts"

/** Operations by companies on hold invoices. */
export const make = (world: World, customers: Customers, made: Made): Acts<"CreateHold" | "SettleHold"> => {
  const post = posting(customers)

  return {
    CreateHold: (act) => {
      const preimage = act.isOwn ? Preimage.make(Id.toHex(world.random().bytes(32))) : undefined
      const hold = { hold: true, ...(preimage !== undefined && { payment_hash: Preimage.hashOf(preimage) }) }
      post(
        act,
        paths.invoice,
        { ...sats(act.sats), expiry_seconds: act.expirySeconds, ...hold },
        (data, bearer) => {
          const id = text(data, "id")
          made.invoices.push(text(data, "payment_request"))
          made.invoiceIds.push({ id, bearer })
          made.holds.push({ id, bearer, preimage })
        }
      )
    },
    SettleHold: ({ slot, which }) => {
      const hold = latest(made.holds, which)
      if (hold === undefined) return
      const body = JSON.stringify(hold.preimage === undefined ? {} : { preimage: hold.preimage })
      customers.ask({
        slot,
        method: "POST",
        path: `${paths.invoice}/${hold.id}/settle`,
        bearer: hold.bearer,
        body
      })
    }
  }
}
