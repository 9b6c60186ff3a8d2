import * as Preimage from "@satrail/bitcoin/Preimage"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Id from "@satrail/core/base/Id"
import type { World } from "../world/World.ts"
import type { Customers } from "./Customers.ts"
import { amountIn, text } from "./Json.ts"
import { type Acts, latest, type Made } from "./Made.ts"
import type { Outsiders } from "./Outsiders.ts"
import { paths, posting, sats } from "./Requests.ts"

/** What companies do with what they were paid, or are about to be: hold invoices, checkouts. */
export const make = (
  world: World,
  customers: Customers,
  outsiders: Outsiders,
  made: Made
): Acts<"CreateHold" | "SettleHold" | "CreateCheckout" | "PayCheckout" | "CancelCheckout"> => {
  const post = posting(customers)
  const { attempt } = outsiders
  const { sandbox } = world

  const send = (address: string, amount: number): void => {
    if (amount <= 0) return
    const txId = attempt("pays a checkout on-chain", sandbox.send({ address, amount: Msat.fromSats(amount) }))
    if (txId !== undefined) made.transactions.push(txId)
  }

  return {
    CreateHold: (act) => {
      const preimage = act.isOwn ? Preimage.make(Id.toHex(world.random().bytes(32))) : undefined
      const hold = { hold: true, ...(preimage !== undefined && { payment_hash: Preimage.hashOf(preimage) }) }
      post(act, paths.invoice, { ...sats(act.sats), expiry_seconds: act.expirySeconds, ...hold }, (data, bearer) => {
        const id = text(data, "id")
        made.invoices.push(text(data, "payment_request"))
        made.invoiceIds.push({ id, bearer })
        made.holds.push({ id, bearer, preimage })
      })
    },
    SettleHold: ({ slot, which }) => {
      const hold = latest(made.holds, which)
      if (hold === undefined) return
      const body = JSON.stringify(hold.preimage === undefined ? {} : { preimage: hold.preimage })
      customers.ask({ slot, method: "POST", path: `${paths.invoice}/${hold.id}/settle`, bearer: hold.bearer, body })
    },
    CreateCheckout: (act) => {
      const amount = act.sats === null ? { amount: null } : sats(act.sats)
      post(act, paths.checkouts, { ...amount, description: "tea", expiry_seconds: act.expirySeconds }, (data, bearer) => {
        made.checkouts.push({ id: text(data, "id"), bearer, address: text(data, "address") })
        made.invoices.push(text(data, "payment_request"))
        made.chainAddresses.push(text(data, "address"))
      })
    },
    PayCheckout: ({ slot, which, how }) => {
      const checkout = latest(made.checkouts, which)
      if (checkout === undefined) return
      const { id, bearer, address } = checkout
      customers.ask({ slot, method: "GET", path: `${paths.checkouts}/${id}`, bearer }, (data) => {
        const asked = amountIn(data, "amount_sats") || 5000
        const missing = Math.max(asked - amountIn(data, "received_sats"), 0)
        if (how === "lightning" || how === "both") outsiders.pay(text(data, "payment_request"))
        if (how === "chain" || how === "both") send(address, missing)
        if (how === "part") send(address, Math.floor(missing / 2))
      })
    },
    CancelCheckout: ({ slot, which }) => {
      const checkout = latest(made.checkouts, which)
      if (checkout === undefined) return
      customers.ask({ slot, method: "POST", path: `${paths.checkouts}/${checkout.id}/cancel`, bearer: checkout.bearer })
    }
  }
}
